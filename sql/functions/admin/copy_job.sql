-- Adds a copy of a job, due now: with its task, payload, named queue, max_attempts, priority and flags, and all
-- attempts, but without its key. The job may be in any state and is not changed. Returns the id of the copy; null if
-- there is no such job.
-- Locks: as add_job.
create or replace function {{.schema}}.copy_job(job_id bigint)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
declare
  job     record;
  copy_id bigint;
begin
  select s.* into job from {{.schema}}.show_jobs(array[job_id]) as s;
  if not found then
    return null;
  end if;
  copy_id := ({{.schema}}.add_job(
    job.task_identifier, job.payload, job.queue_name, null, job.max_attempts, null, job.priority,
    case when job.flags is not null then array(select jsonb_object_keys(job.flags)) end)).id;
  perform {{.schema}}._gw_record_act('copy', 1, 'job ' || job_id, array[copy_id]);
  return copy_id;
end;
$$;

comment on function {{.schema}}.copy_job(bigint) is
  'Adds a copy of a job, due now: with its task, payload, named queue, max_attempts, priority and flags, and all attempts, but without its key. The job itself is not changed. Returns the id of the copy, null if there is no such job.';
