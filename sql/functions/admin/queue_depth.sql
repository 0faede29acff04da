-- Returns the number of jobs in each state (see job_state), and how long the oldest ready job has been due, for
-- dashboards and scalers.
-- The cost is bounded: of a table with more than pages pages it reads a sample of that size, and is_estimate is true. A
-- sample may miss a few jobs among millions; oldest_ready is exact in any case.
-- Raises GWILM (pages is negative).
create or replace function {{.schema}}.queue_depth(
  pages bigint default 1000
)
  returns table (
    ready        bigint,
    scheduled    bigint,
    running      bigint,
    failed       bigint,
    oldest_ready interval,
    is_estimate  boolean
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  select coalesce(sum(s.ready), 0)::bigint, coalesce(sum(s.scheduled), 0)::bigint, coalesce(sum(s.running), 0)::bigint,
         coalesce(sum(s.failed), 0)::bigint, now() - {{.schema}}._gw_oldest_ready(),
         {{.schema}}._gw_share_seen('_private_jobs', pages) < 100
    from {{.schema}}._gw_count_jobs('all', pages) as s;
end;
$$;

comment on function {{.schema}}.queue_depth(bigint) is
  'Returns how many jobs are ready, scheduled, running and permanently failed, and how long the oldest ready job has been due (null if none is ready). Of a table with more than pages pages it reads a sample of that size, and is_estimate is true.';

-- Returns the earliest run_at of the ready jobs; null if none is ready. A run_at of -infinity does not count. The index
-- has it first within each priority, so the function steps from priority to priority, over the 100 most urgent ones at
-- most.
create or replace function {{.schema}}._gw_oldest_ready()
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
  with recursive unqueued as (
    (select j.priority, j.run_at, 1 as step
       from {{.schema}}._private_jobs as j
      where j.is_available and j.job_queue_id is null and j.run_at > '-infinity'
      order by j.priority, j.run_at
      limit 1)
    union all
    select n.priority, n.run_at, u.step + 1
      from unqueued as u
     cross join lateral (
            select j.priority, j.run_at
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id is null and j.priority > u.priority
               and j.run_at > '-infinity'
             order by j.priority, j.run_at
             limit 1) as n
     where u.step < 100
  ), queued as (
    (select j.priority, j.run_at, 1 as step
       from {{.schema}}._private_jobs as j
      where j.is_available and j.job_queue_id > 0 and j.run_at > '-infinity'
      order by j.priority, j.run_at
      limit 1)
    union all
    select n.priority, n.run_at, q.step + 1
      from queued as q
     cross join lateral (
            select j.priority, j.run_at
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id > 0 and j.priority > q.priority
               and j.run_at > '-infinity'
             order by j.priority, j.run_at
             limit 1) as n
     where q.step < 100
  )
  select min(o.run_at)
    from (select u.run_at from unqueued as u union all select q.run_at from queued as q
          union all
          select f.run_at from {{.schema}}._gw_fronts as f where f.group_id is not null and f.run_at > '-infinity') as o
   where o.run_at <= now()
$$;

comment on function {{.schema}}._gw_oldest_ready() is
  'Internal: returns the earliest run_at of the ready jobs, null if none is ready; -infinity does not count.';
