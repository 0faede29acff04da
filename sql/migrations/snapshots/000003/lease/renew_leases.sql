-- Returns which of these jobs a worker still holds, each by the lease beside it, and renews locks older than
-- older_than. As long as the worker calls it, the four-hour sweeps of other workers do not free its jobs. Returns one
-- row for each job that the worker holds, with the new lease. The worker has lost the jobs that are missing.
-- Jobs that the worker holds in one named queue are renewed together with the queue (see _gw_queue_locked_at), or not at all.
-- Locks: the job rows that it renews, by id, then their queue rows by id. It skips rows that other transactions have
-- locked; the next call renews them.
-- Raises GWWOB if the arrays do not match.
create or replace function {{.schema}}.renew_leases(
  worker_id  text,
  job_ids    bigint[],
  leases     bigint[],
  older_than interval default '1 hour'
)
  returns table (job_id bigint, lease bigint)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
#variable_conflict use_variable
declare
  renewed_at  timestamptz := clock_timestamp();
  renewed_ids bigint[];
  queue_ids   integer[]; -- of each of these jobs
  held_ats    timestamptz[];
  locked_ids  integer[]; -- the queues to renew
  left_ids    integer[]; -- the others
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);

  -- Leases are found by binary search, so ids must ascend. A join with the jobs could get a plan that reads all jobs.
  select array_agg(o.id), array_agg(o.lease)
    into job_ids, leases
    from (select u.id, u.lease from unnest(job_ids, leases) as u (id, lease) order by u.id) as o;
  select array_agg(r.id), array_agg(r.job_queue_id order by r.job_queue_id) filter (where r.job_queue_id > 0),
         array_agg(r.locked_at order by r.job_queue_id) filter (where r.job_queue_id > 0)
    into renewed_ids, queue_ids, held_ats
    from (select l.id, l.job_queue_id, l.locked_at
            from {{.schema}}._private_jobs as l
           where l.id = any (job_ids)
             and l.locked_by = worker_id
             and l.locked_at < {{.schema}}._gw_before(renewed_at, older_than)
             and {{.schema}}._gw_lease(l.locked_at) = leases[width_bucket(l.id, job_ids)]
           order by l.id
             for update skip locked) as r;
  if renewed_ids is not null then
    locked_ids := array( -- the queues in which these are all jobs of the claim
      select q.id
        from {{.schema}}._private_job_queues as q
       where q.id = any (queue_ids) and q.locked_by = worker_id
         and {{.schema}}._gw_queue_locked_at(q.locked_at, held_ats[width_bucket(q.id, queue_ids)],
                                      width_bucket(q.id, queue_ids) - width_bucket(q.id - 1, queue_ids)) is null
       order by q.id
         for no key update skip locked);
    left_ids := array(
      select q.id
        from {{.schema}}._private_job_queues as q
       where q.id = any (queue_ids) and q.locked_by = worker_id and q.id <> all (locked_ids));
    with renewed as (
      update {{.schema}}._private_jobs as j
         set locked_at = renewed_at
       where j.id = any (renewed_ids) and (j.job_queue_id = any (left_ids)) is not true
      returning j.id
    )
    select array_agg(r.id) into renewed_ids from renewed as r;
    if {{.schema}}._gw_keeps() then
      insert into {{.schema}}._gw_long_attempts as a (job_id, locked_at, started_at)
      select r.id, renewed_at, {{.schema}}._gw_locked_at(leases[width_bucket(r.id, job_ids)])
        from unnest(renewed_ids) as r (id)
          on conflict on constraint _gw_long_attempts_pkey do update
         set locked_at  = excluded.locked_at,
             started_at = case when a.locked_at = excluded.started_at then a.started_at else excluded.started_at end;
    end if;
    update {{.schema}}._private_job_queues as q
       set locked_at = renewed_at - (width_bucket(q.id, queue_ids) - width_bucket(q.id - 1, queue_ids) - 1) * interval '1 microsecond'
     where q.id = any (locked_ids);
  end if;

  return query
  select j.id, {{.schema}}._gw_lease(j.locked_at)
    from {{.schema}}._private_jobs as j
   where j.id = any (job_ids)
     and j.locked_by = worker_id
     and ({{.schema}}._gw_lease(j.locked_at) = leases[width_bucket(j.id, job_ids)] or j.id = any (renewed_ids));
end;
$$;

comment on function {{.schema}}.renew_leases(text, bigint[], bigint[], interval) is
  'Returns which of these jobs a worker still holds, each by the lease beside it, and renews locks older than older_than. Returns one row for each job that the worker holds, with the new lease; the worker has lost the jobs that are missing.';
