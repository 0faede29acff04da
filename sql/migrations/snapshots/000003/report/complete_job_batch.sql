-- Completes jobs: deletes their rows and frees their queues. Returns the ids of the completed jobs. This worker no
-- longer held the jobs that are missing (by the lease beside them, if leases are given).
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWOB if the arrays do not match, GWWRS if a result is too large.
create or replace function {{.schema}}.complete_job_batch(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[] default null,
  results   json[]   default null
)
  returns setof bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  completed bigint;
  groups    integer[];
begin
  if results is not null then
    perform {{.schema}}._gw_take_results(worker_id, job_ids, leases, results);
  end if;
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_group_lanes'::regclass) > 0 then -- without limits it has no pages
    groups := array(
      select j.job_queue_id
        from {{.schema}}._private_jobs as j
       where j.id = any (job_ids) and j.locked_by = worker_id and j.job_queue_id < 0
       order by j.id
         for update);
  end if;
  if leases is null or cardinality(leases) = cardinality(job_ids) and leases[1] = all (leases) then
    -- Jobs of one claim, or jobs that the worker holds by any lease.
    if cardinality(job_ids) > 1 and pg_relation_size('{{ replace "'" "''" .schema }}._private_job_queues'::regclass) = 0 then
      -- There was never a named queue, so no queue needs to be freed, and the function need not go through the deleted
      -- jobs.
      return query
      delete from {{.schema}}._private_jobs as j
       where j.id = any (job_ids)
         and j.locked_by = worker_id
         and coalesce((select {{.schema}}._gw_locked_at(leases[1])), j.locked_at) = j.locked_at
      returning j.id;
    else
      return query
      with gone as (
        delete from {{.schema}}._private_jobs as j
         where j.id = any (job_ids)
           and j.locked_by = worker_id
           and coalesce((select {{.schema}}._gw_locked_at(leases[1])), j.locked_at) = j.locked_at
        returning j.id, j.job_queue_id, j.locked_at
      ), ended as materialized (
        select array_agg(g.job_queue_id order by g.job_queue_id) as queue_ids, array_agg(g.locked_at order by g.job_queue_id) as locked_ats
          from gone as g
         where g.job_queue_id > 0
      ), freed as (
        update {{.schema}}._private_job_queues as q
           set locked_at = {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, e.queue_ids, e.locked_ats),
               locked_by = case when {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, e.queue_ids, e.locked_ats) is not null then q.locked_by end
          from ended as e
         where q.id = any (e.queue_ids) and q.locked_by = worker_id
      )
      select g.id from gone as g;
    end if;
  elsif cardinality(leases) = cardinality(job_ids) and array_position(job_ids, null) is null then
    -- Jobs of several claims. Leases are found by binary search, so ids must ascend.
    return query
    with outcomes as materialized (
      select array_agg(o.id order by o.id) as ids, array_agg(o.lease order by o.id) as leases
        from unnest(job_ids, leases) as o (id, lease)
    ), gone as (
      delete from {{.schema}}._private_jobs as j
       using outcomes as o
       where j.id = any (o.ids)
         and j.locked_by = worker_id
         and {{.schema}}._gw_is_held(j.locked_at, o.leases[width_bucket(j.id, o.ids)])
      returning j.id, j.job_queue_id, j.locked_at
    ), ended as materialized (
      select array_agg(g.job_queue_id order by g.job_queue_id) as queue_ids, array_agg(g.locked_at order by g.job_queue_id) as locked_ats
        from gone as g
       where g.job_queue_id > 0
    ), freed as (
      update {{.schema}}._private_job_queues as q
         set locked_at = {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, e.queue_ids, e.locked_ats),
             locked_by = case when {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, e.queue_ids, e.locked_ats) is not null then q.locked_by end
        from ended as e
       where q.id = any (e.queue_ids) and q.locked_by = worker_id
    )
    select g.id from gone as g;
  end if;
  get diagnostics completed = row_count;
  if groups <> '{}' then
    perform {{.schema}}._gw_free_lanes(groups);
  end if;
  if (completed = cardinality(job_ids)) is not true then
    perform {{.schema}}._gw_check_outcomes(job_ids, leases); -- some are no longer held, or the ids are invalid
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
end;
$$;

comment on function {{.schema}}.complete_job_batch(text, bigint[], bigint[], json[]) is
  'Completes jobs: deletes them and frees their queues. Returns the ids of the jobs that the worker still held, each by the lease at the same position if leases are given. results: one for each job or null, kept where they were asked for; see expect_result() and keep_task().';
