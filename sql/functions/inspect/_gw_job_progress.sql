-- Returns the progress of jobs as the current attempt of each has reported it, or the last one if none runs. An attempt
-- whose predecessor was returned or snoozed has the same number, and goes on where that one was. A canceled job has an
-- attempt too many.
create or replace function {{.schema}}._gw_job_progress(job_ids bigint[])
  returns table (job_id bigint, percent real, note text, reported_at timestamptz) language sql stable
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
  select p.job_id, p.percent, p.note, p.reported_at
    from {{.schema}}._gw_progress as p
    join {{.schema}}._private_jobs as j on j.id = p.job_id
   where p.job_id = any (job_ids)
     and p.revision = j.revision
     and (j.locked_at is null or p.attempt = j.attempts or j.attempts > j.max_attempts)
$$;
