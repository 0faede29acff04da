-- Canceled jobs that are still running; see cancel_jobs. While such a job runs, it has attempts = max_attempts + 1. A
-- job that was revived and runs again does not.

-- Returns the canceled jobs of a worker, with their reasons: for its heartbeats, and when it is about to start a job
-- that it has claimed together with others.
create or replace function {{.schema}}._gw_canceled_jobs(worker_id text)
  returns table (job_id bigint, reason text) language plpgsql stable set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  return query
  select c.job_id, coalesce(c.reason, '')
    from {{.schema}}._gw_cancels as c
   cross join lateral (
          select from {{.schema}}._private_jobs as j
           where j.id = c.job_id and j.locked_by = c.worker_id and j.attempts > j.max_attempts
          offset 0) as j -- prevents a join that could read all jobs
   where c.job_id > 0 -- by the index
     and c.worker_id = _gw_canceled_jobs.worker_id;
end;
$$;
