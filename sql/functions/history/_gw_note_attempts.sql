-- Records attempts that end although their jobs stay: failures, returns, and recoveries; and jobs that an operator
-- ends. It is called before the rows are changed, only if _gw_keeps(). Returns those of these jobs that the call has
-- locked, which the caller then changes.
-- workers: these hold the jobs, by the leases if these are given (ids must ascend then). Without workers, the jobs are
-- idle, or their locks are older than four hours, and they have not failed yet.
-- outcome: as in job_history; failed becomes permanently_failed where no attempt follows, and canceled or replaced
-- where an operator or a producer has ended the job while it ran. details: errors, of which the first line is kept, up
-- to 1000 characters. Security definer, for roles with rights of their own to the jobs, as with Graphile Worker.
-- Locks: job rows by id, skipping locked ones if skip_locked.
create or replace function {{.schema}}._gw_note_attempts(
  outcome text, workers text[], job_ids bigint[], leases bigint[] default null, details text[] default null,
  permanent boolean[] default null, skip_locked boolean default false)
  returns bigint[] language plpgsql security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_variable
declare
  over_at constant timestamptz := clock_timestamp();
  held    bigint[];
begin
  if skip_locked then
    held := array(select j.id from {{.schema}}._private_jobs as j where j.id = any (job_ids) order by j.id for update skip locked);
  else
    perform from {{.schema}}._private_jobs as j where j.id = any (job_ids) order by j.id for update;
    held := job_ids;
  end if;
  begin
    insert into {{.schema}}._gw_ended
      (slot, drop_on, first_id, last_id, task, outcome, worker_id, place, key, ended_at, job_ids, started_at, run_at, created_at,
       attempts, max_attempts, details)
    select {{.schema}}._gw_slot_at(over_at), p.drop_on, p.ids[1], p.ids[cardinality(p.ids)], p.task, p.became, p.locked_by,
           case when p.job_queue_id is not null then {{.schema}}._gw_place_of(p.job_queue_id, p.ids[1]) end, p.key, over_at, p.ids,
           case when p.locked_by is not null then p.started_at end, p.run_at, p.created_at, p.attempts, p.max_attempts, p.details
      from (select {{.schema}}._gw_drop_on(over_at, k.keep_for) as drop_on, k.task, o.became, j.locked_by, j.job_queue_id, j.key, j.max_attempts,
                   array_agg(j.id order by j.id) as ids,
                   array_agg(coalesce({{.schema}}._gw_started_at(j.id, j.locked_at), now()) order by j.id) as started_at,
                   array_agg(j.run_at order by j.id) as run_at,
                   array_agg(j.created_at order by j.id) as created_at,
                   array_agg(least(j.attempts, j.max_attempts)::smallint order by j.id) as attempts,
                   array_agg(left(split_part(o.detail, e'\n', 1), 1000) order by j.id) as details
              from {{.schema}}._private_jobs as j
              join {{.schema}}._private_tasks as t on t.id = j.task_id
              join {{.schema}}._gw_kept_tasks as k on k.task = t.identifier
             cross join lateral (
                    select case when j.attempts > j.max_attempts and exists (select from {{.schema}}._gw_cancels as c where c.job_id = j.id)
                                  then 'canceled'
                                when j.attempts > j.max_attempts then 'replaced'
                                when outcome = 'failed' and (permanent[w.place] or j.attempts >= j.max_attempts or workers is null)
                                  then 'permanently_failed'
                                else outcome end as became,
                           case when cardinality(details) = 1 then details[1] else details[w.place] end as detail
                      from (select width_bucket(j.id, job_ids) as place where cardinality(job_ids) > 0) as w) as o
             where j.id = any (held)
               and (j.locked_by = any (workers) and {{.schema}}._gw_is_held(j.locked_at, leases[width_bucket(j.id, job_ids)])
                    or workers is null and (j.locked_at is null or j.locked_at < now() - interval '4 hours')
                       and j.attempts < j.max_attempts)
             group by k.keep_for, k.task, o.became, j.locked_by, j.job_queue_id, j.key, j.max_attempts, j.id >> 13,
                      case when j.key is not null or {{.schema}}._gw_has_own_place(j.job_queue_id) then j.id end) as p;
  exception when others then -- the attempts have ended all the same
    perform {{.schema}}._gw_note_failure('_gw_note_attempts', sqlerrm);
  end;
  perform pg_notify('jobs:end', e.job_id::text) from {{.schema}}._gw_expected as e where e.job_id = any (held) and e.ended_at is null;
  return held;
end;
$$;

-- Returns whether attempts have to be recorded or somebody waits for jobs. It looks only at the sizes of two files.
-- Callers inline it, which they can do because it is volatile, as pg_relation_size is.
create or replace function {{.schema}}._gw_keeps()
  returns boolean language sql
as $$
  select pg_catalog.pg_relation_size('{{ replace "'" "''" .schema }}._gw_kept_tasks'::pg_catalog.regclass)
         operator(pg_catalog.+) pg_catalog.pg_relation_size('{{ replace "'" "''" .schema }}._gw_expected'::pg_catalog.regclass)
         operator(pg_catalog.>) 0
$$;
