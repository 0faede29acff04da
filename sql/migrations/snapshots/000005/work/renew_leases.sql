-- Returns which of these jobs a worker still holds, each by the lease beside it, and renews locks older than
-- older_than. As long as the worker calls it, the four-hour sweeps of other workers do not free its jobs. Returns one
-- row for each job that the worker holds, with the new lease. The worker has lost the jobs that are missing.
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
  queue_ids   integer[];
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);

  -- Leases are found by binary search, so ids must ascend. A join with the jobs could get a plan that reads all jobs.
  select array_agg(o.id), array_agg(o.lease)
    into job_ids, leases
    from (select u.id, u.lease from unnest(job_ids, leases) as u (id, lease) order by u.id) as o;
  with renewed as (
    update {{.schema}}._private_jobs as j
       set locked_at = renewed_at
     where j.id = any (array(select l.id
                               from {{.schema}}._private_jobs as l
                              where l.id = any (job_ids)
                                and l.locked_by = worker_id
                                and l.locked_at < {{.schema}}._gw_before(renewed_at, older_than)
                                and {{.schema}}._gw_lease(l.locked_at) = leases[width_bucket(l.id, job_ids)]
                              order by l.id
                                for update skip locked))
    returning j.id, j.job_queue_id
  )
  select array_agg(r.id), array_agg(r.job_queue_id) filter (where r.job_queue_id is not null)
    into renewed_ids, queue_ids
    from renewed as r;
  if renewed_ids is not null then
    update {{.schema}}._gw_slots as s set locked_at = renewed_at where s.job_id = any (renewed_ids);
  end if;
  if queue_ids is not null then
    update {{.schema}}._private_job_queues as q
       set locked_at = renewed_at
     where q.id = any (array(select l.id
                               from {{.schema}}._private_job_queues as l
                              where l.id = any (queue_ids) and l.locked_by = worker_id
                              order by l.id
                                for no key update skip locked));
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
