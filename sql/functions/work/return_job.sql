-- Hands a job back as if it had not been claimed: the attempt does not count. run_in: not before this long from now. A
-- job whose key was taken over or removed while it was out stays dead.
-- Acts only while the worker holds the job, and with a lease only while it holds it by that claim; returns whether it
-- did.
-- Locks: the job row, then its queue row.
-- Raises GWWOB when job_id is null.
create or replace function {{.schema}}.return_job(
  worker_id text,
  job_id    bigint,
  lease     bigint   default null,
  run_in    interval default null
)
  returns boolean
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  select exists (select from {{.schema}}.return_job_batch(worker_id, array[job_id], array[lease], run_in))
$$;

comment on function {{.schema}}.return_job(text, bigint, bigint, interval) is
  'Hands a job back as if it had not been claimed. run_in: not before this long from now. Acts only while the worker holds the job (by this lease, if one is given) and returns whether it did.';
