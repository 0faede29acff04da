-- Returns a job to the queue as if it had not been claimed: the attempt does not count. run_in: the job does not start
-- before this long from now. A job whose key was taken over or removed during the attempt stays failed.
-- Acts only while the worker holds the job (by this lease, if one is given). Returns the new state of the job, as
-- fail_job does; no row if the worker did not hold it.
-- Locks: the job row, then its queue row.
-- Raises GWWOB if job_id is null.
create or replace function {{.schema}}.return_job(
  worker_id text,
  job_id    bigint,
  lease     bigint   default null,
  run_in    interval default null
)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language sql
  set search_path = pg_catalog, pg_temp
as $$
  select r.id, r.state, r.run_at, r.attempts, r.max_attempts
    from {{.schema}}.return_job_batch(worker_id, array[job_id], array[lease], run_in) as r
$$;

comment on function {{.schema}}.return_job(text, bigint, bigint, interval) is
  'Returns a job to the queue as if it had not been claimed. run_in: the job does not start before this long from now. Acts only while the worker holds the job (by this lease, if one is given). Returns the new state of the job: id, state (ready, scheduled, or failed for a job that will not run again), run_at, attempts and max_attempts; no row if the worker did not hold it.';
