-- Changes when and how these jobs run, and returns them; a null argument leaves its value unchanged. Running jobs are
-- skipped, unless their lock is older than four hours. attempts => 0 restores all attempts of a permanently failed job.
-- Locks: job rows by id, and the names of the queues of suspects.
-- Raises GWBMA, GWBMR, GWBPR, GWBAR for numbers out of range, unless job_ids is empty.
create or replace function {{.schema}}.reschedule_jobs(
  job_ids      bigint[],
  run_at       timestamptz default null,
  priority     integer     default null,
  attempts     integer     default null,
  max_attempts integer     default null
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  ready bigint;
  done  bigint;
begin
  if job_ids = '{}' then
    return;
  end if;
  perform {{.schema}}._gw_refuse_job('', null, max_attempts, null, priority, null);
  if attempts not between 0 and 32767 then
    raise exception 'Job attempts must be between 0 and 32767, not %.', attempts using errcode = 'GWBAR';
  end if;

  return query
  update {{.schema}}._private_jobs as j
     set job_queue_id = case when j.job_queue_id < 0 and j.locked_at is null then {{.schema}}._gw_unheld(j.job_queue_id, j.id)
                             else j.job_queue_id end,
         run_at       = coalesce(reschedule_jobs.run_at, j.run_at),
         priority     = coalesce(reschedule_jobs.priority, j.priority),
         attempts     = coalesce(reschedule_jobs.attempts, j.attempts),
         max_attempts = coalesce(reschedule_jobs.max_attempts, j.max_attempts),
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
  if done > 0 then
    perform {{.schema}}._gw_record_act('reschedule', done,
      concat_ws(', ', 'run_at ' || reschedule_jobs.run_at, 'priority ' || reschedule_jobs.priority,
                'attempts ' || reschedule_jobs.attempts, 'max_attempts ' || reschedule_jobs.max_attempts),
      reschedule_jobs.job_ids);
    select count(*) into ready
      from {{.schema}}._private_jobs as j
     where j.id = any (job_ids) and j.is_available and j.run_at <= now();
    perform {{.schema}}._gw_wake(ready);
  end if;
end;
$$;

comment on function {{.schema}}.reschedule_jobs(bigint[], timestamptz, integer, integer, integer) is
  'Changes run_at, priority, attempts or max_attempts of these jobs and returns them; null leaves a value unchanged. Running jobs are skipped, unless their lock is older than four hours.';
