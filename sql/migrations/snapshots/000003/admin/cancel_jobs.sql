-- Makes these jobs fail for good, those too that run, and returns them. A running one stays its worker's until that hands
-- it back: the next beat tells the worker, which ends the handler. If that completes the job all the same, it is done;
-- whatever else becomes of it, and of its worker, it will not run again (see _gw_retire for the attempt too many). A
-- worker that does not beat, such as Node's, runs the job to its end. Jobs that have failed are left as they are.
-- Locks: job rows by id. What is noted for beats is put in anew, never changed, so that whoever drops what is spent meets
-- either none of it or all.
create or replace function {{.schema}}.cancel_jobs(
  job_ids bigint[],
  reason  text default null
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
begin
  perform from {{.schema}}._private_jobs as j where j.id = any (job_ids) order by j.id for update;
  delete from {{.schema}}._gw_cancels as c where c.job_id = any (job_ids);
  insert into {{.schema}}._gw_cancels as c (job_id, worker_id, reason)
  select j.id, j.locked_by, cancel_jobs.reason
    from {{.schema}}._private_jobs as j
   where j.id = any (job_ids) and j.locked_by is not null;

  return query
  update {{.schema}}._private_jobs as j
     set last_error   = coalesce(cancel_jobs.reason, 'Canceled'),
         max_attempts = case when j.locked_at is null then j.max_attempts else least(j.max_attempts, 32766) end,
         attempts     = case when j.locked_at is null then j.max_attempts else least(j.max_attempts, 32766) + 1 end,
         updated_at   = now()
   where j.id = any (job_ids) and (j.locked_at is not null or j.attempts < j.max_attempts)
  returning j.*;
end;
$$;

comment on function {{.schema}}.cancel_jobs(bigint[], text) is
  'Makes these jobs fail for good, with the reason as last_error, and returns them; those too that run. The worker of a running one learns of it by its next heartbeat and ends the handler; if that completes the job all the same, it is done. Workers that do not beat run it to its end. Jobs that have failed already are left as they are.';
