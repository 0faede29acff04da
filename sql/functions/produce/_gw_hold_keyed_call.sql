-- For add_job_once, debounce_job and throttle_job: checks the arguments and returns the record of the calls of this
-- kind under this key, locked until the transaction ends. If there is no record, it creates one whose job_id is null.
-- Locks: name locks and names as add_job, before the record; then the record. It waits for other calls under the same
-- key.
-- Raises GWOKY (no key), and what add_job raises for the arguments.
create or replace function {{.schema}}._gw_hold_keyed_call(
  kind text, task text, key text, queue_name text, max_attempts integer, priority integer, flags text[])
  returns {{.schema}}._gw_keyed_calls language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  held {{.schema}}._gw_keyed_calls;
begin
  if key is null then
    raise exception 'The key is null.' using errcode = 'GWOKY', hint = 'The key identifies the calls that share a job. To add a job without a key, call add_job().';
  end if;
  if {{.schema}}._gw_job_is_refused(task, queue_name, max_attempts, key, priority, flags) then
    perform {{.schema}}._gw_refuse_job(task, queue_name, max_attempts, key, priority, flags);
  end if;
  -- Names come before any row, as in add_job.
  perform {{.schema}}._gw_hold_names(array[task], array[queue_name]);
  perform {{.schema}}._gw_make_names(array[task], array[queue_name]);
  loop
    select c.* into held
      from {{.schema}}._gw_keyed_calls as c
     where c.kind = _gw_hold_keyed_call.kind and c.key = _gw_hold_keyed_call.key
       for update;
    exit when found;
    insert into {{.schema}}._gw_keyed_calls as c (kind, key, began_at, kept_until)
    values (kind, key, clock_timestamp(), clock_timestamp())
        on conflict on constraint _gw_keyed_calls_pkey do nothing
    returning c.* into held;
    exit when found;
  end loop;
  return held;
end;
$$;

-- Adds the job of such a call, and stores the record of it. Returns the job as these functions do. If the job must be
-- new, because none waited under the key when the caller looked, and add_job would replace one that has been added
-- since, the function does nothing and returns nulls.
-- Locks: as add_job; the caller holds the record.
create or replace function {{.schema}}._gw_add_held_job(
  held         {{.schema}}._gw_keyed_calls, -- what is stored, but for the id of the job
  spec         {{.schema}}.job_spec,
  must_be_new  boolean,
  out id       bigint,
  out state    text,
  out due_at   timestamptz,
  out revision integer,
  out is_new   boolean
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
declare
  added {{.schema}}._private_jobs;
begin
  if must_be_new then
    begin
      added := {{.schema}}.add_job(
        spec.identifier, spec.payload, spec.queue_name, spec.run_at, spec.max_attempts, spec.job_key, spec.priority, spec.flags);
      if added.revision > 0 then
        raise exception using errcode = 'GWBKC';
      end if;
    exception when sqlstate 'GWBKC' then
      if added.id is null then -- add_job has raised it
        raise;
      end if;
      return;
    end;
  else
    added := {{.schema}}.add_job(
      spec.identifier, spec.payload, spec.queue_name, spec.run_at, spec.max_attempts, spec.job_key, spec.priority, spec.flags);
  end if;
  update {{.schema}}._gw_keyed_calls as c
     set job_id = added.id, began_at = held.began_at, not_before = held.not_before, kept_until = held.kept_until
   where c.kind = held.kind and c.key = held.key;
  id := added.id;
  state := {{.schema}}.job_state(added.run_at, added.attempts, added.max_attempts, added.locked_at);
  due_at := added.run_at;
  revision := added.revision;
  is_new := added.revision = 0;
end;
$$;

-- Locks the job under a key and, if it waits and has not failed permanently, returns its id, run_at and attempts; nulls
-- if it does not, or if there is none.
-- Locks: the row under the key.
create or replace function {{.schema}}._gw_waiting_job(
  job_key text, out id bigint, out run_at timestamptz, out attempts smallint)
  language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  perform from {{.schema}}._private_jobs as j where j.key = job_key for update;
  if found then
    -- A separate statement: the lock may have waited for a claim.
    select j.id, j.run_at, j.attempts
      into id, run_at, attempts
      from {{.schema}}._private_jobs as j
     where j.key = job_key and j.is_available;
  end if;
end;
$$;
