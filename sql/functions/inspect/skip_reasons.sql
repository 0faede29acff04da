-- Returns why complete_jobs, permanently_fail_jobs, reschedule_jobs, retry_jobs or cancel_jobs has just skipped these
-- jobs: a row for each id, and the worker that holds the job, if any.
--   gone      no job has this id
--   running   a worker holds the job
--   replaced  the job was replaced by its key or removed while it ran, and has failed
--   failed    the job has failed permanently
--   busy      none of these: another transaction held the job, or has changed it since
create or replace function {{.schema}}.skip_reasons(job_ids bigint[])
  returns table (
    id        bigint,
    reason    text,
    locked_by text
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
begin
  return query
  select i.id,
         case when j.id is null then 'gone'
              when j.locked_at is not null then 'running'
              when j.attempts > j.max_attempts then 'replaced'
              when j.attempts = j.max_attempts then 'failed'
              else 'busy' end,
         j.locked_by
    from (select distinct u.id from unnest(job_ids) as u (id) where u.id is not null) as i
    left join {{.schema}}._private_jobs as j on j.id = i.id
   order by i.id;
end;
$$;

comment on function {{.schema}}.skip_reasons(bigint[]) is
  'Returns why a function that changes jobs has just skipped these jobs: gone, running, replaced (by its key, or removed, while it ran), failed, or busy (another transaction held it), and the worker that holds the job.';
