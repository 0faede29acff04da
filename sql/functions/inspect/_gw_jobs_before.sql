-- For why(): returns up to ten of the jobs that nothing holds back and that come before a waiting job, in the order of
-- claims, for a worker that runs all tasks.
-- Of a named queue that is free its first due job comes, of jobs with limits that pass the same gates (a lane, whether
-- a claim has made it or not) the first one, if all its gates have room. All these are in one order by priority, run_at
-- and id. Of the lanes of a fair limit only one has its place there: the one with the fewest running jobs, then the one
-- that was served longest ago; the others follow it.
create or replace function {{.schema}}._gw_jobs_before(job_id bigint, at timestamptz)
  returns bigint[] language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_nestloop = off -- thousands of lanes have few rows by the planner's guess
  set jit = off
as $$
declare
  job record;
  ids bigint[];
begin
  select j.id, j.priority, j.run_at into job from {{.schema}}._private_jobs as j where j.id = job_id;
  ids := {{.schema}}._gw_unlimited_before(job_id, at) || {{.schema}}._gw_limited_firsts(job.priority, at) || job.id;
  return array(
    with passed as (
      select g.job_id, array_agg(concat_ws(' ', g.limit_id, g.is_total, g.key) order by g.limit_id, g.is_total) as gates,
             count(g.reason) = 0 as is_open,
             (array_agg(g.limit_id order by g.limit_id) filter (where g.is_fair))[1] as fair_limit,
             (array_agg(g.running order by g.limit_id) filter (where g.is_fair))[1] as running,
             (array_agg(g.served_at order by g.limit_id) filter (where g.is_fair))[1] as served_at
        from {{.schema}}._gw_gates_of_jobs(ids, at) as g
       group by g.job_id
    ), candidates as materialized (
      select j.id, j.priority, j.run_at, coalesce(p.is_open, true) as is_open, p.running, p.served_at,
             case when j.job_queue_id > 0 or p.job_id is null then array[j.id::text] -- it has no lane
                  else j.task_id::text || p.gates end as lane,
             case when (j.job_queue_id > 0) is not true then p.fair_limit end as fair_limit
        from (select distinct u.id from unnest(ids) as u (id)) as u
       cross join lateral (
              select j.id, j.priority, j.run_at, j.task_id, j.job_queue_id from {{.schema}}._private_jobs as j where j.id = u.id offset 0) as j
        left join passed as p on p.job_id = u.id
    ), firsts as (
      select distinct on (c.lane) c.* from candidates as c where c.is_open order by c.lane, c.priority, c.run_at, c.id
    ), turns as (
      select f.*, case when f.fair_limit is not null then
                    row_number() over (partition by f.fair_limit order by f.priority, f.running, f.served_at, f.run_at, f.id)
                  end as turn
        from firsts as f
    ), own as materialized (
      select t.fair_limit, t.turn from turns as t where t.lane = (select c.lane from candidates as c where c.id = job.id)
    )
    select t.id
      from turns as t
      left join own as o on true
     where t.id <> job.id
       and (coalesce(t.turn, 1) = 1 and (t.priority, t.run_at, t.id) < (job.priority, job.run_at, job.id)
            or t.fair_limit = o.fair_limit and t.turn < o.turn)
     order by t.priority, t.run_at, t.id
     limit 10);
end;
$$;

-- Returns jobs that come before a job and are not in lanes: the first ten jobs without a queue and limits, and the
-- first due job of each free queue, whether its limits allow it or not.
create or replace function {{.schema}}._gw_unlimited_before(job_id bigint, at timestamptz)
  returns bigint[] language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = on
  set jit = off
as $$
declare
  served constant integer[] := {{.schema}}._gw_served_tasks(at);
  free   constant integer[] := {{.schema}}._gw_unlimited_tasks(served);
  job    record;
begin
  select j.id, j.priority, j.run_at into job from {{.schema}}._private_jobs as j where j.id = job_id;
  return array(
           select j.id
             from {{.schema}}._private_jobs as j
            where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) < (job.priority, job.run_at, job.id)
              and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, free, null)
            order by j.priority, j.run_at, j.id
            limit 10)
         || array(
           select h.id
             from {{.schema}}._private_job_queues as q
            cross join lateral (
                   select j.id, j.priority, j.run_at
                     from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id = q.id
                      and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, served, null)
                    order by j.priority, j.run_at, j.id
                    limit 1) as h
            where (q.locked_at is null or q.locked_by = 'pause')
              and not exists (select from {{.schema}}._gw_pauses as p
                               where p.queue_name = q.queue_name
                                 and coalesce(p.until, 'infinity') > _gw_unlimited_before.at)
              and (h.priority, h.run_at, h.id) < (job.priority, job.run_at, job.id));
end;
$$;

-- Returns the jobs with limits that may be the first ones of their lanes, of priorities up to this one, whether the
-- limits allow them or not: of each lane the first job, of lanes of changed limits more; of each task the first jobs at
-- which no claim has looked. It reads at most 1000 of these of a task.
create or replace function {{.schema}}._gw_limited_firsts(priority smallint, at timestamptz)
  returns bigint[] language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = on
  set jit = off
as $$
declare
  most   constant integer := 1000;
  served constant integer[] := {{.schema}}._gw_served_tasks(at);
  free   constant integer[] := {{.schema}}._gw_unlimited_tasks(served);
begin
  return array(
           select j.id
             from (select l.id, l.generation <> t.generation as is_old
                     from (select distinct l.task_id from {{.schema}}._gw_lanes as l where l.gate is distinct from 0) as u
                    cross join lateral {{.schema}}._gw_limits_of(u.task_id) as t
                     join {{.schema}}._gw_lanes as l on l.task_id = t.task_id and l.gate is distinct from 0) as l
            cross join lateral (
                   select j.id
                     from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id = l.id and j.priority <= _gw_limited_firsts.priority
                      and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, served, null)
                    order by j.priority, j.run_at, j.id
                    limit case when l.is_old then most else 1 end) as j)
         || array(
           select j.id
             from unnest(served) as t (id)
            cross join lateral (
                   select j.id
                     from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id = -1 and j.task_id = t.id and j.priority <= _gw_limited_firsts.priority
                      and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, null, null)
                    order by j.priority, j.run_at, j.id
                    limit most) as j)
         || array( -- added before their task had a limit, or by somebody who does not know limits
           select j.id
             from (select j.id, j.task_id
                     from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id is null and j.priority <= _gw_limited_firsts.priority
                      and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, served, null)
                      and exists (select from {{.schema}}._gw_limits)
                    order by j.priority, j.run_at, j.id
                    limit 10000) as j
            where j.task_id <> all (free)
            limit most);
end;
$$;

-- Returns the tasks that claims serve: all but paused ones and those that no worker runs; none if everything is paused.
create or replace function {{.schema}}._gw_served_tasks(at timestamptz)
  returns integer[] language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select t.id
      from {{.schema}}._private_tasks as t
     where not exists (select from {{.schema}}._gw_pauses as p
                        where p.limit_name is null and (p.task = t.identifier or num_nulls(p.task, p.queue_name) = 2)
                          and coalesce(p.until, 'infinity') > _gw_served_tasks.at)
       and {{.schema}}._gw_is_served(t.identifier, at));
end;
$$;

-- Returns whether a registered worker that was seen within dead_after, and is not drained, runs a task. If no worker is
-- registered, the fleet may consist of Node workers, which do not register: then it runs all tasks.
create or replace function {{.schema}}._gw_is_served(task text, at timestamptz)
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from {{.schema}}._gw_workers as w
                  where (w.tasks = '{}' or task = any (w.tasks)) and w.drained_at is null and w.last_seen_at >= at - (select {{.schema}}.setting('dead_after')::interval))
         or not exists (select from {{.schema}}._gw_workers);
end;
$$;

-- Returns those of these tasks to which no limit applies.
create or replace function {{.schema}}._gw_unlimited_tasks(task_ids integer[])
  returns integer[] language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select t.id
      from {{.schema}}._private_tasks as t
     where t.id = any (task_ids)
       and not exists (select from {{.schema}}._gw_limits as l where l.tasks is null or t.identifier = any (l.tasks)));
end;
$$;
