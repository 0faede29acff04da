-- Adds a job as add_job does, for a producer that is limited to this task. A key in use by a job of another task is
-- refused, because replacing that job would remove it.
-- Locks: what add_job locks, but the row under the key first.
-- Raises what add_job raises, and GWBKT for a key of another task.
create or replace function {{.schema}}._gw_enqueue_task(
  identifier text, payload json default null, queue_name text default null, run_at timestamptz default null,
  max_attempts integer default null, job_key text default null, priority integer default null,
  flags text[] default null, job_key_mode text default 'replace')
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
#variable_conflict use_variable
declare
  holder_id bigint;
  added     {{.schema}}._private_jobs;
begin
  if job_key is null then
    return ({{.schema}}.add_job(identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, job_key_mode)).id;
  end if;

  -- An invalid job is refused before its names are created.
  if {{.schema}}._gw_job_is_refused(identifier, queue_name, max_attempts, job_key, priority, flags) then
    perform {{.schema}}._gw_refuse_job(identifier, queue_name, max_attempts, job_key, priority, flags);
  end if;

  -- Name locks come before the row under the key, as in add_job.
  perform {{.schema}}._gw_hold_names(array[identifier], array[queue_name]);
  perform {{.schema}}._gw_make_names(array[identifier], array[queue_name]);
  loop
    select j.id into holder_id from {{.schema}}._private_jobs as j where j.key = job_key for update;
    -- This is a separate statement, because the lock may have waited for a transaction that changed the task.
    if found and not exists (
      select from {{.schema}}._private_jobs as j
        join {{.schema}}._private_tasks as t on t.id = j.task_id
       where j.id = holder_id and t.identifier = _gw_enqueue_task.identifier
    ) then
      raise exception 'The job key ''%'' is in use by a job of another task.', job_key
        using errcode = 'GWBKT', hint = 'Use a key that no other task uses.';
    end if;
    -- If there is no job under the key, all modes do the same. unsafe_dedupe replaces nothing if another call is
    -- faster.
    added := {{.schema}}.add_job(identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags,
      case when holder_id is null and coalesce(job_key_mode, 'replace') in ('replace', 'preserve_run_at') then 'unsafe_dedupe'
           else job_key_mode end);
    exit when holder_id is not null or added.revision = 0;
  end loop;
  return added.id;
end;
$$;

comment on function {{.schema}}._gw_enqueue_task(text, json, text, timestamptz, integer, text, integer, text[], text) is 'Internal: adds a job as add_job does, for a producer that is limited to this task.';
