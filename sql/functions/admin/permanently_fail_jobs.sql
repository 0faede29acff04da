-- Marks these jobs as permanently failed, and returns them. Running jobs are skipped, unless their lock is older than
-- four hours. Such a lock stays, so its job gets attempts = max_attempts + 1: if the worker returns it later, it stays
-- failed (see _gw_retire).
-- Locks: job rows by id.
create or replace function {{.schema}}.permanently_fail_jobs(
  job_ids       bigint[],
  error_message text default null
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  done bigint;
begin
  if {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts('failed', null, job_ids,
                                          details => array[coalesce(error_message, 'Manually marked as failed')]);
  end if;
  return query
  update {{.schema}}._private_jobs as j
     set last_error   = coalesce(error_message, 'Manually marked as failed'),
         max_attempts = case when j.locked_at is null then j.max_attempts else least(j.max_attempts, 32766) end,
         attempts     = case when j.locked_at is null then j.max_attempts else least(j.max_attempts, 32766) + 1 end,
         job_queue_id = case when j.locked_at is null and j.job_queue_id < 0
                             then {{.schema}}._gw_unheld(j.job_queue_id, j.id)
                             else j.job_queue_id end,
         updated_at   = now()
    from (select l.id
            from {{.schema}}._private_jobs as l
           where l.id = any (job_ids)
             and (l.locked_at is null or l.locked_at < now() - interval '4 hours')
           order by l.id
             for update) as free
   where j.id = free.id
  returning j.*;
  get diagnostics done = row_count;
  perform {{.schema}}._gw_record_act('fail', done, permanently_fail_jobs.error_message, permanently_fail_jobs.job_ids)
    where done > 0;
end;
$$;

comment on function {{.schema}}.permanently_fail_jobs(bigint[], text) is
  'Marks these jobs as permanently failed, with error_message as last_error, and returns them. Running jobs are skipped, unless their lock is older than four hours.';
