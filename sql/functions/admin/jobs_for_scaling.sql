-- Returns how many jobs need a worker now, for a program that scales the workers: due jobs, and running jobs, so that
-- no needed worker is removed. The result is at most most; only jobs of these tasks count, if tasks are given.
-- The cost is bounded, however many jobs there are. The index finds a few due jobs among millions that are not due. If
-- it has too many due jobs of other tasks, and for running jobs, the function reads 5000 pages of the table, a sample
-- of a larger one.
-- Raises GWILM (most is negative).
create or replace function {{.schema}}.jobs_for_scaling(
  tasks text[] default null,
  most  bigint default 1000
)
  returns bigint
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  to_look  constant bigint := case when tasks is null then most else greatest(most, 10000) end;
  task_ids constant integer[] := array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (tasks));
  share    constant real := {{.schema}}._gw_share_seen('_private_jobs', 5000);
  due      bigint;
  seen     record;
begin
  perform {{.schema}}._gw_check_limit('most', most);
  select count(*)
    into due
    from {{.schema}}._gw_due_jobs(to_look) as d (task_id)
   where jobs_for_scaling.tasks is null or d.task_id = any (task_ids);
  if due < jobs_for_scaling.most then
    select ceil(count(*) filter (where j.is_available) * 100 / share)::bigint as due,
           ceil(count(*) filter (where not j.is_available) * 100 / share)::bigint as running
      into seen
      from {{.schema}}._private_jobs as j tablesample system (share)
     where (j.locked_at is not null or j.is_available and j.run_at <= now())
       and (jobs_for_scaling.tasks is null or j.task_id = any (task_ids));
    due := greatest(due, seen.due) + seen.running;
  end if;
  return least(due, jobs_for_scaling.most);
end;
$$;

comment on function {{.schema}}.jobs_for_scaling(text[], bigint) is
  'Returns how many jobs are due or running, at most most, for a program that scales the workers. tasks: only jobs of these tasks, all if null. The cost is bounded: in a table with more than 5000 pages it counts running jobs, and due ones behind 10 000 more urgent jobs of other tasks, from a sample.';

-- Returns the tasks of the due jobs, most urgent priorities first, jobs in named queues and those with limits last. As
-- _gw_oldest_ready, it goes from priority to priority, so it does not read jobs that are not due yet. Of a lane that no
-- gate bars it returns the first job. The inner limits prevent a plan that reads the whole table for a join.
create or replace function {{.schema}}._gw_due_jobs(most bigint)
  returns setof integer language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  return query
  select d.task_id
    from (select j.task_id
            from {{.schema}}._gw_waiting_priorities('plain') as p (priority)
           cross join lateral (
                  select j.task_id
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id is null and j.priority = p.priority and j.run_at <= now()
                   limit most) as j
          union all
          select j.task_id
            from {{.schema}}._gw_waiting_priorities('queued') as p (priority)
           cross join lateral (
                  select j.task_id
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id > 0 and j.priority = p.priority and j.run_at <= now()
                   limit most) as j
          union all
          select j.task_id
            from (values ('incoming', -1), ('held', -2)) as k (kind, id)
           cross join lateral {{.schema}}._gw_waiting_priorities(k.kind) as p (priority)
           cross join lateral (
                  select j.task_id
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id = k.id and j.priority = p.priority and j.run_at <= now()
                   limit most) as j
          union all
          (select l.task_id from {{.schema}}._gw_lanes as l where l.gate is null and l.run_at <= now() limit most)) as d
   limit most;
end;
$$;
