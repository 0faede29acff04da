-- Returns jobs to the queue, each as return_job does. Returns the new state of each job that it changed, as fail_job
-- does. This worker no longer held the jobs that are missing (by the lease beside them, if leases are given).
-- Locks: job rows by id, then queue rows by id.
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
  held {{.schema}}._gw_ended_job[];
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  held := {{.schema}}._gw_hold(worker_id, job_ids, leases);
  if held is not null then
    return query
    select r.id, r.state, r.run_at, r.attempts, r.max_attempts from {{.schema}}._gw_return_jobs(worker_id, held, run_in) as r;
  end if;
  if (cardinality(held) = cardinality(job_ids)) is not true then
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
end;
$$;

comment on function {{.schema}}.return_job_batch(text, bigint[], bigint[], interval) is
  'Returns jobs to the queue as if they had not been claimed. run_in: the jobs do not start before this long from now. Returns the new state of each job that the worker still held, by the lease at the same position if leases are given: id, state (ready, scheduled, or failed for a job that will not run again), run_at, attempts and max_attempts.';

-- Returns these jobs, which the caller has locked by _gw_hold, to the queue. Returns their new state. A job in a lane becomes incoming.
-- Locks: queue rows by id. Its callers force plans by indexes.
create or replace function {{.schema}}._gw_return_jobs(
  worker_id text, held {{.schema}}._gw_ended_job[], run_in interval)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  job_ids bigint[] := array(select h.job_id from unnest(held) as h);
  back    record;
begin
  if {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts(case when run_in is null then 'returned' else 'snoozed' end, array[worker_id], job_ids);
  end if;
  with returned as (
    update {{.schema}}._private_jobs as j
       -- A retired job has attempts = max_attempts + 1. One attempt less leaves it failed.
       set attempts     = greatest(0, j.attempts - 1),
           run_at       = coalesce({{.schema}}._gw_after(now(), run_in), j.run_at),
           job_queue_id = case when j.job_queue_id < 0 then -1 else j.job_queue_id end,
           locked_at    = null,
           locked_by    = null
     where j.id = any (job_ids)
    returning j.id, {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at) as state,
              j.run_at, j.attempts, j.max_attempts, j.job_queue_id, j.is_available
  )
  select array_agg(r.id) as ids, array_agg(r.state) as states, array_agg(r.run_at) as run_ats, array_agg(r.attempts) as tried,
         array_agg(r.max_attempts) as maxima, count(r.job_queue_id) as queued, count(*) filter (where r.is_available and r.run_at <= now()) as ready
    into back
    from returned as r;
  if back.queued > 0 then
    perform {{.schema}}._gw_release(worker_id, held, 'returned');
  end if;
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_suspects'::regclass) > 0 then
    perform {{.schema}}._gw_suspect_again(array[worker_id], job_ids);
  end if;
  perform {{.schema}}._gw_wake(back.ready);
  return query
  select o.id, o.state, o.run_at, o.attempts, o.max_attempts
    from unnest(back.ids, back.states, back.run_ats, back.tried, back.maxima) as o (id, state, run_at, attempts, max_attempts);
end;
$$;

comment on function {{.schema}}._gw_return_jobs(text, {{.schema}}._gw_ended_job[], interval) is
  'Internal: returns jobs that the caller has locked to the queue.';
