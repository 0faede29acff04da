-- For heartbeats of the keeper: does what nobody else does for pauses. Returns whether there is more to do at once.
-- Pauses that have ended by themselves are deleted. Queues of pauses are locked anew before others take the lock for a stale one,
-- and those that were busy when their pause began, or that were freed without regard to it, are taken.
-- Locks: rows of queues by id, then of pauses, then of jobs by id; skips locked ones.
create or replace function {{.schema}}._gw_sweep_pauses()
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  ended     record;
  queue_ids integer[];
begin
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) = 0 then
    return false; -- there has never been a limit or a pause
  end if;
  perform {{.schema}}._gw_end_queue_pauses();
  for ended in
    delete from {{.schema}}._gw_pauses as p
     where p.id = any (array(select o.id
                               from {{.schema}}._gw_pauses as o
                              where o.until <= clock_timestamp()
                                and not exists (select from {{.schema}}._private_job_queues as q where q.queue_name = o.queue_name)
                              order by o.id
                              limit 100
                                for update skip locked))
    returning p.task, p.limit_name, p.key
  loop
    perform {{.schema}}._gw_look_at_gates({{.schema}}._gw_gates_of_pause(ended.task, ended.limit_name, ended.key));
  end loop;
  queue_ids := array(
    select q.id
      from {{.schema}}._gw_pauses as p
      join {{.schema}}._private_job_queues as q on q.queue_name = p.queue_name
     where q.locked_at is null or q.locked_by = 'pause' and q.locked_at < now() - interval '1 hour'
     order by q.id
     limit 1000
       for no key update of q skip locked);
  if queue_ids <> '{}' then
    update {{.schema}}._private_job_queues as q set locked_at = now() where q.id = any (queue_ids) and q.locked_by = 'pause';
    perform {{.schema}}._gw_take_paused(queue_ids);
  end if;
  return {{.schema}}._gw_hide_jobs();
end;
$$;

comment on function {{.schema}}._gw_sweep_pauses() is
  'Internal, for heartbeat(): ends pauses, keeps their queues, and hides their jobs from Node workers; returns whether there is more to do at once.';

-- Node workers know no pauses, but do not see incoming jobs. So waiting jobs of paused tasks without a queue become incoming, and incoming
-- jobs become plain again if neither a pause nor a limit applies to their task. Our claims do not depend on it. Returns whether there is
-- more to do at once.
-- Jobs to hide are read once by id from each pause on, five thousand in a step, and then those in front, where a job is that has become
-- available since.
-- Locks: jobs by id, then pauses; skips locked ones.
create or replace function {{.schema}}._gw_hide_jobs()
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  step    constant integer     := 5000;
  at      constant timestamptz := clock_timestamp();
  paused  integer[];
  from_id bigint;
  last_id bigint; -- null: no jobs are left from from_id on
  job_ids bigint[];
  shown   bigint;
begin
  select array_agg(t.id), min(p.hidden_to) into paused, from_id
    from {{.schema}}._gw_pauses as p
    join {{.schema}}._private_tasks as t on t.identifier = p.task
   where coalesce(p.until, 'infinity') > at;
  if paused is not null then
    select max(j.id), array_agg(j.id) filter (where j.is_available and j.job_queue_id is null and j.task_id = any (paused)) into last_id, job_ids
      from (select j.id, j.task_id, j.is_available, j.job_queue_id from {{.schema}}._private_jobs as j where j.id > from_id order by j.id limit step) as j;
    job_ids := job_ids || array(
      select j.id
        from (select j.id, j.task_id
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id is null
               order by j.priority, j.run_at, j.id
               limit step) as j
       where j.task_id = any (paused));
    perform {{.schema}}._gw_change_queues(job_ids, null, -1) where job_ids <> '{}';
    update {{.schema}}._gw_pauses as p
       set hidden_to = coalesce(last_id, 9223372036854775807)
     where p.id = any (array(select o.id
                               from {{.schema}}._gw_pauses as o
                              where o.task is not null and o.hidden_to < coalesce(last_id, 9223372036854775807)
                                for update skip locked));
  end if;

  with recursive incoming (task_id) as (
    select min(j.task_id) from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = -1
    union all
    select (select min(j.task_id) from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = -1 and j.task_id > i.task_id)
      from incoming as i
     where i.task_id is not null
  )
  select array_agg(j.id) into job_ids
    from (select j.id
            from incoming as i
            join {{.schema}}._private_tasks as t on t.id = i.task_id
           cross join lateral (
                  select j.id
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id = -1 and j.task_id = t.id
                   order by j.priority, j.run_at, j.id
                   limit step) as j
           where not exists (select from {{.schema}}._gw_limits as l where l.tasks is null or t.identifier = any (l.tasks))
             and (t.id = any (paused)) is not true
           limit step) as j;
  if job_ids is not null then
    shown := {{.schema}}._gw_change_queues(job_ids, -1, null);
    perform {{.schema}}._gw_wake(shown) where shown > 0;
  end if;
  return last_id is not null or coalesce(cardinality(job_ids), 0) = step;
end;
$$;

comment on function {{.schema}}._gw_hide_jobs() is
  'Internal: hides waiting jobs of paused tasks from Node workers, and shows them again; returns whether there is more to do at once.';

-- Changes job_queue_id of those of these jobs that wait and have old_id in it. Returns how many.
create or replace function {{.schema}}._gw_change_queues(job_ids bigint[], old_id integer, new_id integer)
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  changed bigint;
begin
  update {{.schema}}._private_jobs as j
     set job_queue_id = new_id
    from (select w.id
            from {{.schema}}._private_jobs as w
           where w.id = any (job_ids) and w.is_available and w.job_queue_id is not distinct from old_id
           order by w.id
             for update skip locked) as free
   where j.id = free.id;
  get diagnostics changed = row_count;
  return changed;
end;
$$;

comment on function {{.schema}}._gw_change_queues(bigint[], integer, integer) is
  'Internal: changes job_queue_id of those of these jobs that wait and have old_id in it; returns how many.';
