-- Reports jobs as done: their rows go, their queues are free for the next one. Returns the ids it acted on; those that
-- are missing were no longer held by this worker (by the lease beside them, where leases are given).
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWOB when the arrays do not fit together.
create or replace function {{.schema}}.complete_job_batch(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[] default null
)
  returns setof bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  completed bigint[];
  queue_ids integer[];
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  with gone as (
    delete from {{.schema}}._private_jobs as j
     using (select o.id, o.lease from unnest(job_ids, leases) as o (id, lease) order by o.id) as o
     where j.id = o.id
       and j.locked_by = worker_id
       and (o.lease is null or {{.schema}}._gw_lease(j.locked_at) = o.lease)
    returning j.id, j.job_queue_id
  )
  select array_agg(g.id), array_agg(g.job_queue_id) filter (where g.job_queue_id is not null)
    into completed, queue_ids
    from gone as g;
  if queue_ids is not null then
    perform {{.schema}}._gw_free_queues(worker_id, queue_ids);
  end if;
  return query select unnest(completed);
end;
$$;

comment on function {{.schema}}.complete_job_batch(text, bigint[], bigint[]) is
  'Reports jobs as done and deletes them. Returns the ids it acted on: those that the worker still held, each by the lease at the same place, if leases are given.';
