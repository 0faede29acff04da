-- Canceled jobs that still run, for heartbeat() to tell their workers; see cancel_jobs.

-- Drops those that do not run any more. What is canceled has one attempt more than its maximum for as long as it runs; a
-- job that runs again since, because somebody has revived it, has not.
create or replace function {{.schema}}._gw_drop_spent_cancels()
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
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
  'Internal: drops what was noted about canceled jobs that do not run any more.';
