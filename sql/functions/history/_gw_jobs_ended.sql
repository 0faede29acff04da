-- Trigger: a statement has deleted jobs. It records the ends of those of kept tasks, and of those for which somebody
-- waits or whose result was asked for. All deletions are recorded, whoever makes them: a locked job was completed by
-- its worker; the setting gw.outcome has the outcome if that is not so; other jobs were removed. The settings
-- gw.results and gw.result_ids have results of completed jobs, and the ids of these jobs. One row of _gw_ended has the
-- jobs of one task, worker and range of ids that end together. A job with a key or whose payload or result is kept has
-- a row of its own. If a record cannot be written, that is recorded for doctor(), and the jobs end without it.
create or replace function {{.schema}}._gw_jobs_ended()
  returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_sort = off -- for the groups, because comparing names is expensive
  set jit = off
as $$
declare
  given     constant text        := nullif(current_setting('gw.outcome', true), '');
  reported  constant bigint[]    := nullif(current_setting('gw.result_ids', true), '')::bigint[];
  results   constant text[]      := case when reported is not null then current_setting('gw.results')::text[] end;
  over_at   constant timestamptz := clock_timestamp();
  any_long  constant boolean     := pg_relation_size('{{ replace "'" "''" .schema }}._gw_long_attempts'::regclass) > 0;
  kept      integer[];
  alone     integer[];
  waited    bigint[];
begin
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_expected'::regclass) > 0 then
    with told as (
      update {{.schema}}._gw_expected as e
         set ended_at = over_at,
             outcome  = coalesce(given, case when g.locked_at is null then 'removed' else 'completed' end),
             result   = coalesce(results[array_position(reported, g.id)]::json, e.result)
        from (select d.id, d.locked_at from ended as d offset 0) as g
       where e.job_id = g.id and e.ended_at is null
      returning e.job_id
    )
    select array_agg(t.job_id) into waited from told as t;
    perform pg_notify('jobs:end', u.id::text) from unnest(waited) as u (id);
  end if;

  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_kept_tasks'::regclass) = 0 then
    return null;
  end if;
  select array_agg(t.id), coalesce(array_agg(t.id) filter (where k.payloads or k.results and reported is not null), '{}')
    into kept, alone
    from {{.schema}}._gw_kept_tasks as k
    join {{.schema}}._private_tasks as t on t.identifier = k.task;
  if not exists (select from ended as g where g.task_id = any (kept)) then
    return null;
  end if;
  begin
    insert into {{.schema}}._gw_ended
      (slot, drop_on, first_id, last_id, task, outcome, worker_id, place, key, ended_at, job_ids, started_at, run_at, created_at,
       attempts, max_attempts, payload, result)
    select {{.schema}}._gw_slot_at(over_at), p.drop_on, p.job_ids[1], p.job_ids[cardinality(p.job_ids)], p.task,
           coalesce(given, case when p.is_held then 'completed' else 'removed' end), p.locked_by,
           case when p.job_queue_id is not null then {{.schema}}._gw_place_of(p.job_queue_id, p.job_ids[1]) end, p.key, over_at, p.job_ids,
           case when p.is_held then p.started_at end, p.run_at, p.created_at, p.attempts, p.max_attempts,
           case when p.payloads then p.payload end,
           case when p.keeps_result then results[array_position(reported, p.job_ids[1])]::json end
      from (select a.*, {{.schema}}._gw_drop_on(over_at, k.keep_for) as drop_on, k.task, k.payloads, k.results and reported is not null as keeps_result
              from (select g.task_id, g.locked_by, g.locked_at is not null as is_held, g.job_queue_id, g.key, g.max_attempts,
                           array_agg(g.id) as job_ids,
                           (array_agg(g.payload) filter (where g.task_id = any (alone)))[1] as payload,
                           -- What can be left out need not be compressed.
                           case when not any_long and min(g.locked_at) = max(g.locked_at) then array[min(g.locked_at)]
                                else array_agg(case when any_long then {{.schema}}._gw_started_at(g.id, g.locked_at) else g.locked_at end)
                           end as started_at,
                           array_agg(g.run_at) as run_at,
                           case when not bool_and(g.created_at = g.run_at) then array_agg(g.created_at) end as created_at,
                           case when min(g.attempts) <> 1 or max(g.attempts) <> 1
                                then array_agg(least(g.attempts, g.max_attempts)::smallint) end as attempts
                      from (select d.* from ended as d where d.task_id = any (kept) order by d.id) as g
                     group by g.task_id, g.locked_by, g.locked_at is not null, g.job_queue_id, g.key, g.max_attempts, g.id >> 13,
                              case when g.key is not null or g.task_id = any (alone) or {{.schema}}._gw_has_own_place(g.job_queue_id) then g.id end) as a
              join {{.schema}}._private_tasks as t on t.id = a.task_id
              join {{.schema}}._gw_kept_tasks as k on k.task = t.identifier) as p;
  exception when others then -- the job has ended all the same
    perform {{.schema}}._gw_note_failure('_gw_jobs_ended', sqlerrm);
  end;
  return null;
end;
$$;

-- Returns when the attempt began that has this locked_at: renew_leases may have changed it.
create or replace function {{.schema}}._gw_started_at(job_id bigint, locked_at timestamptz)
  returns timestamptz language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
begin
  return coalesce((select a.started_at
                     from {{.schema}}._gw_long_attempts as a
                    where a.job_id = _gw_started_at.job_id and a.locked_at = _gw_started_at.locked_at), locked_at);
end;
$$;
