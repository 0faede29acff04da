-- Returns jobs to the queue, each as return_job does. Returns the new state of each job that it changed, as fail_job
-- does. This worker no longer held the jobs that are missing (by the lease beside them, if leases are given).
-- Locks: job rows by id, then the lanes of limited jobs by id, then queue rows by id.
-- Raises GWWOB if the arrays do not match.
create or replace function {{.schema}}.return_job_batch(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[] default null,
  run_in    interval default null
)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  ids       bigint[];
  states    text[];
  run_ats   timestamptz[];
  tried     smallint[];
  maxima    smallint[];
  queue_ids integer[];
  held_ats  timestamptz[];
  ready     bigint;
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  -- Leases are found by binary search, so ids must ascend. A join with the jobs could get a plan that reads all jobs.
  select array_agg(o.id), array_agg(o.lease)
    into job_ids, leases
    from (select u.id, u.lease from unnest(job_ids, leases) as u (id, lease) order by u.id) as o;
  leases := {{.schema}}._gw_known_leases(worker_id, job_ids, leases);
  if {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts(case when run_in is null then 'returned' else 'snoozed' end, array[worker_id], job_ids, leases);
  end if;
  with back as (
    update {{.schema}}._private_jobs as j
       -- A retired job has attempts = max_attempts + 1. One attempt less leaves it failed.
       set attempts  = greatest(0, j.attempts - 1),
           run_at    = coalesce({{.schema}}._gw_after(now(), run_in), j.run_at),
           locked_at = null,
           locked_by = null
     where j.id = any (job_ids)
       and j.locked_by = worker_id
       and j.locked_at = {{.schema}}._gw_locked_at(leases[width_bucket(j.id, job_ids)])
    returning j.id, {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at) as state,
              j.run_at, j.attempts, j.max_attempts, j.job_queue_id, j.is_available and j.run_at <= now() as is_ready,
              {{.schema}}._gw_locked_at(leases[width_bucket(j.id, job_ids)]) as held_at
  )
  select array_agg(b.id), array_agg(b.state), array_agg(b.run_at), array_agg(b.attempts), array_agg(b.max_attempts),
         array_agg(b.job_queue_id) filter (where b.job_queue_id is not null),
         array_agg(b.held_at) filter (where b.job_queue_id is not null), count(*) filter (where b.is_ready)
    into ids, states, run_ats, tried, maxima, queue_ids, held_ats, ready
    from back as b;
  if 0 > any (queue_ids) then
    perform {{.schema}}._gw_refund_starts(ids);
  end if;
  if queue_ids is not null then
    perform {{.schema}}._gw_free_queues(worker_id, queue_ids, ids, held_ats);
  end if;
  if ids is not null then
    perform {{.schema}}._gw_wake(ready);
  end if;
  if (cardinality(ids) = cardinality(job_ids)) is not true then
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
  return query
  select o.id, o.state, o.run_at, o.attempts, o.max_attempts
    from unnest(ids, states, run_ats, tried, maxima) as o (id, state, run_at, attempts, max_attempts);
end;
$$;

comment on function {{.schema}}.return_job_batch(text, bigint[], bigint[], interval) is
  'Returns jobs to the queue as if they had not been claimed. run_in: the jobs do not start before this long from now. Returns the new state of each job that the worker still held, by the lease at the same position if leases are given: id, state (ready, scheduled, or failed for a job that will not run again), run_at, attempts and max_attempts.';
