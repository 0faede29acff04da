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
  in_order  boolean;
  completed bigint[];
  queue_ids integer[];
begin
  loop
    -- Leases are found by halving, so ids must ascend. The arrays are in a materialized row, for PL/pgSQL would flatten
    -- its own anew for every job.
    with outcomes as materialized (
      select job_ids as ids, leases as leases
       where (cardinality(leases) = cardinality(job_ids)) is not false
         and (cardinality(job_ids) = 1 and job_ids[1] is not null
              or not exists (select from unnest(job_ids, job_ids[2:]) as o (id, next_id)
                              where o.id is null or o.id >= o.next_id))
    ), gone as (
      delete from {{.schema}}._private_jobs as j
       using outcomes as o
       where j.id = any (o.ids)
         and j.locked_by = worker_id
         and {{.schema}}._gw_is_held(j.locked_at, o.leases[width_bucket(j.id, o.ids)])
      returning j.id, j.job_queue_id
    )
    select array_agg(g.id), array_agg(g.job_queue_id) filter (where g.job_queue_id is not null),
           exists (select from outcomes)
      into completed, queue_ids, in_order
      from gone as g;
    exit when in_order;
    perform {{.schema}}._gw_check_outcomes(job_ids, leases);
    select array_agg(o.id order by o.id), case when leases is not null then array_agg(o.lease order by o.id) end
      into job_ids, leases
      from unnest(job_ids, leases) as o (id, lease);
  end loop;
  if queue_ids is not null then
    perform {{.schema}}._gw_free_queues(worker_id, queue_ids);
  end if;
  return query select unnest(completed);
end;
$$;

comment on function {{.schema}}.complete_job_batch(text, bigint[], bigint[]) is
  'Reports jobs as done and deletes them. Returns the ids it acted on: those that the worker still held, each by the lease at the same place, if leases are given.';
