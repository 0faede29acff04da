-- Cancels jobs, running ones included, and returns them: they fail permanently. A running job stays locked by its
-- worker until the worker returns it: the next heartbeat reports the cancellation to the worker, which ends the
-- handler. If the worker completes the job nevertheless, it is completed. In every other case, a crash included, the
-- job does not run again (see _gw_retire for the extra attempt). A worker without heartbeats, such as Node's, runs the
-- job to its end. Failed jobs are not changed.
-- Locks: job rows by id. The rows for heartbeats are inserted anew, never updated, so that a concurrent delete of ended
-- cancellations sees either the whole new row or nothing.
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
declare
  held bigint[];
  done bigint;
begin
  -- A statement that has waited for a job does not see those that were added with the change. What appears after the
  -- last one is left: a worker may have it by then.
  loop
    held := array(select j.id from {{.schema}}._private_jobs as j where j.id = any (job_ids) order by j.id for update);
    exit when cardinality(held) = (select count(*) from {{.schema}}._private_jobs as j where j.id = any (job_ids));
  end loop;
  job_ids := held;
  delete from {{.schema}}._gw_cancels as c where c.job_id = any (job_ids);
  insert into {{.schema}}._gw_cancels as c (job_id, worker_id, reason)
  select j.id, j.locked_by, cancel_jobs.reason
    from {{.schema}}._private_jobs as j
   where j.id = any (job_ids) and j.locked_by is not null;

  if {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts(
      'canceled', null,
      array(select j.id from {{.schema}}._private_jobs as j where j.id = any (job_ids) and j.locked_at is null),
      details => array[coalesce(cancel_jobs.reason, 'Canceled')]);
  end if;
  return query
  update {{.schema}}._private_jobs as j
     set last_error   = coalesce(cancel_jobs.reason, 'Canceled'),
         max_attempts = case when j.locked_at is null then j.max_attempts else least(j.max_attempts, 32766) end,
         attempts     = case when j.locked_at is null then j.max_attempts else least(j.max_attempts, 32766) + 1 end,
         job_queue_id = case when j.locked_at is null and j.job_queue_id < 0
                             then {{.schema}}._gw_unheld(j.job_queue_id, j.id)
                             else j.job_queue_id end,
         updated_at   = now()
   where j.id = any (job_ids) and (j.locked_at is not null or j.attempts < j.max_attempts)
  returning j.*;
  get diagnostics done = row_count;
  perform {{.schema}}._gw_record_act('cancel', done, cancel_jobs.reason, cancel_jobs.job_ids)
    where done > 0;
end;
$$;

comment on function {{.schema}}.cancel_jobs(bigint[], text) is
  'Cancels jobs, running ones included, and returns them: they fail permanently, with the reason as last_error. The worker of a running job ends the handler at its next heartbeat; if the worker completes the job all the same, it is completed. Workers without heartbeats run the job to its end. Failed jobs are not changed.';
