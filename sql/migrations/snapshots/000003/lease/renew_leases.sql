-- Returns which of these jobs a worker still holds, each by the lease beside it, and renews locks older than
-- older_than. As long as the worker calls it, the four-hour sweeps of other workers do not free its jobs. Returns one
-- row for each job that the worker holds, with the new lease. The worker has lost the jobs that are missing.
-- Jobs that the worker holds in one named queue are renewed together with the queue (see _gw_queue_locked_at), or not
-- at all.
-- Locks: the job rows that it renews, by id, then their queue rows by id. It skips rows that other transactions have
-- locked; the next call renews them.
-- Raises GWWOB if the arrays do not match.
create or replace function {{.schema}}.renew_leases(
  worker_id  text,
  job_ids    bigint[],
  leases     bigint[],
  older_than interval default '1 hour'
)
  returns table (job_id bigint, lease bigint) language plpgsql set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_variable
declare
  renewed_at timestamptz := clock_timestamp();
  due        {{.schema}}._gw_ended_job[]; -- the jobs to renew
  whole      integer[]; -- the queues in which these are all jobs of the claim
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);

  -- Leases are found by binary search, so ids must ascend. A join with the jobs could get a plan that reads all jobs.
  select array_agg(o.id), array_agg(o.lease) into job_ids, leases
    from (select u.id, u.lease from unnest(job_ids, leases) as u (id, lease) order by u.id) as o;
  due := array(
    select row(l.id, l.job_queue_id, l.locked_at)::{{.schema}}._gw_ended_job
      from {{.schema}}._private_jobs as l
     where l.id = any (job_ids) and l.locked_by = worker_id
       and l.locked_at < {{.schema}}._gw_before(renewed_at, older_than)
       and {{.schema}}._gw_lease(l.locked_at) = leases[width_bucket(l.id, job_ids)]
     order by l.id
       for update skip locked);
  if due <> '{}' then
    whole := array(
      select q.id
        from (select d.queue_id, count(*) as jobs, max(d.held_at) as held_at
                from unnest(due) as d
               where d.queue_id > 0
               group by d.queue_id
               order by d.queue_id) as c
       cross join lateral (
              select q.id
                from {{.schema}}._private_job_queues as q
               where q.id = c.queue_id and q.locked_by = worker_id
                 and {{.schema}}._gw_queue_locked_at(q.locked_at, c.held_at, c.jobs) is null
                 for no key update skip locked) as q);
    due := array(
      select row(d.*)::{{.schema}}._gw_ended_job
        from unnest(due) as d
       where d.queue_id = any (whole)
          or (select true from {{.schema}}._private_job_queues as q
               where q.id = d.queue_id and q.locked_by = worker_id limit 1) is null); -- by the index: no plan reads all queues at once
    update {{.schema}}._private_jobs as j
       set locked_at = renewed_at
     where j.id = any (array(select d.job_id from unnest(due) as d));
    if {{.schema}}._gw_keeps() then
      insert into {{.schema}}._gw_long_attempts as a (job_id, locked_at, started_at)
      select d.job_id, renewed_at, d.held_at from unnest(due) as d
          on conflict on constraint _gw_long_attempts_pkey do update
         set locked_at  = excluded.locked_at,
             started_at = case when a.locked_at = excluded.started_at then a.started_at else excluded.started_at end;
    end if;
    update {{.schema}}._private_job_queues as q
       set locked_at = renewed_at - (c.jobs - 1) * interval '1 microsecond'
      from (select d.queue_id, count(*) as jobs from unnest(due) as d where d.queue_id = any (whole) group by d.queue_id) as c
     cross join lateral (select o.ctid from {{.schema}}._private_job_queues as o where o.id = c.queue_id offset 0) as o
     where q.ctid = o.ctid;
  end if;

  return query
  select j.id, {{.schema}}._gw_lease(j.locked_at)
    from {{.schema}}._private_jobs as j
   where j.id = any (job_ids) and j.locked_by = worker_id
     and (j.locked_at = renewed_at or {{.schema}}._gw_lease(j.locked_at) = leases[width_bucket(j.id, job_ids)]);
end;
$$;

comment on function {{.schema}}.renew_leases(text, bigint[], bigint[], interval) is
  'Returns which of these jobs a worker still holds, each by the lease beside it, and renews locks older than older_than. Returns one row for each job that the worker holds, with the new lease; the worker has lost the jobs that are missing.';
