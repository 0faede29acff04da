-- Canceled jobs that are still running. heartbeat() returns them to their workers; see cancel_jobs.

-- Deletes the rows of jobs that are no longer running. While a canceled job runs, it has attempts = max_attempts + 1. A
-- job that was revived and runs again does not.
create or replace function {{.schema}}._gw_drop_spent_cancels()
  returns void language sql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
  delete from {{.schema}}._gw_cancels as c
   where c.job_id in (
           select l.job_id
             from {{.schema}}._gw_cancels as l
            where not exists (select from {{.schema}}._private_jobs as j
                               where j.id = l.job_id and j.locked_by = l.worker_id and j.attempts > j.max_attempts)
              for update of l skip locked)
$$;

comment on function {{.schema}}._gw_drop_spent_cancels() is
  'Internal: deletes the rows of canceled jobs that are no longer running.';
