-- Hands jobs back, each as return_job does. Returns the ids it acted on; those that are missing were no longer held by
-- this worker (by the lease beside them, where leases are given).
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWOB when the arrays do not fit together.
create or replace function {{.schema}}.return_job_batch(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[] default null,
  run_in    interval default null
)
  returns setof bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  returned  bigint[];
  queue_ids integer[];
  ready     bigint;
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  with back as (
    update {{.schema}}._private_jobs as j
       -- A retired job has one attempt more than its maximum: one less leaves it dead.
       set attempts  = greatest(0, j.attempts - 1),
           run_at    = coalesce({{.schema}}._gw_after(now(), run_in), j.run_at),
           locked_at = null,
           locked_by = null
      from (select o.id, o.lease from unnest(job_ids, leases) as o (id, lease) order by o.id) as o
     where j.id = o.id
       and j.locked_by = worker_id
       and {{.schema}}._gw_is_held(j.locked_at, o.lease)
    returning j.id, j.job_queue_id, j.is_available and j.run_at <= now() as is_ready
  )
  select array_agg(b.id), array_agg(b.job_queue_id) filter (where b.job_queue_id is not null),
         count(*) filter (where b.is_ready)
    into returned, queue_ids, ready
    from back as b;
  if queue_ids is not null then
    perform {{.schema}}._gw_free_queues(worker_id, queue_ids);
  end if;
  if returned is not null then
    perform {{.schema}}._gw_wake(ready);
  end if;
  return query select unnest(returned);
end;
$$;

comment on function {{.schema}}.return_job_batch(text, bigint[], bigint[], interval) is
  'Hands jobs back as if they had not been claimed. run_in: not before this long from now. Returns the ids it acted on: those that the worker still held, each by the lease at the same place, if leases are given.';
