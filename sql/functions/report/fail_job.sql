-- Records the failure of a job. The job runs again at retry_at, or retry_in from now, or by default after a back-off
-- that grows with its attempts. If its attempts are used up, or if permanent is true, it stays in the table as
-- permanently failed.
-- replacement_payload: the remaining work of a job that is partly done.
-- Acts only while the worker holds the job (by this lease, if one is given). Returns the new state of the job in the
-- terms of job_state: ready or scheduled if it runs again, failed if not. Returns no row if the worker did not hold the
-- job.
-- Locks: the job row, then its queue row.
-- Raises GWWRT if both retry_at and retry_in are given, GWWOB if job_id is null.
create or replace function {{.schema}}.fail_job(
  worker_id           text,
  job_id              bigint,
  error_message       text,
  lease               bigint      default null,
  retry_at            timestamptz default null,
  replacement_payload json        default null,
  retry_in            interval    default null,
  permanent           boolean     default false
)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if retry_at is not null and retry_in is not null then
    raise exception 'Give retry_at or retry_in, not both.' using errcode = 'GWWRT';
  end if;
  perform {{.schema}}._gw_check_outcomes(array[job_id], null);
  return query
  select b.id, b.state, b.run_at, b.attempts, b.max_attempts
    from {{.schema}}._gw_put_back(
           worker_id, 'failed',
           array[row(job_id, lease, coalesce(error_message, 'The worker gave no reason.'),
                     coalesce(retry_at, {{.schema}}._gw_after(now(), retry_in)), replacement_payload, false, permanent)::{{.schema}}._gw_outcome]) as b;
end;
$$;

comment on function {{.schema}}.fail_job(text, bigint, text, bigint, timestamptz, json, interval, boolean) is
  'Records the failure of a job. retry_at, retry_in: when to try again, instead of the usual back-off. replacement_payload: replaces the payload. permanent: do not try again. Acts only while the worker holds the job (by this lease, if one is given). Returns the new state of the job: id, state (ready, scheduled or failed), run_at, attempts and max_attempts; no row if the worker did not hold it.';
