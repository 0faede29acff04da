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
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  return query
  select b.id, b.state, b.run_at, b.attempts, b.max_attempts
    from {{.schema}}._gw_put_back(
           worker_id, case when run_in is null then 'returned' else 'snoozed' end,
           array(select row(u.id, u.lease, null, {{.schema}}._gw_after(now(), run_in), null, true, false)::{{.schema}}._gw_outcome
                   from unnest(job_ids, leases) as u (id, lease))) as b;
end;
$$;

comment on function {{.schema}}.return_job_batch(text, bigint[], bigint[], interval) is
  'Returns jobs to the queue as if they had not been claimed. run_in: the jobs do not start before this long from now. Returns the new state of each job that the worker still held, by the lease at the same position if leases are given: id, state (ready, scheduled, or failed for a job that will not run again), run_at, attempts and max_attempts.';
