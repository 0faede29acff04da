-- Removes the job that is waiting under a key and returns it. A running job cannot be removed: it loses its key, is not
-- tried again, and is returned. Returns null if there is no job under the key.
-- A call by a program that has set gw.actor is recorded as an act of an operator; see list_audit.
-- Locks: the row under the key. If the key moves to another row while the call waits, the loop starts again.
create or replace function {{.schema}}.remove_job(job_key text)
  returns {{.schema}}._private_jobs
  language plpgsql
  strict
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  found_job {{.schema}}._private_jobs;
begin
  loop
    select j.* into found_job from {{.schema}}._private_jobs as j where j.key = job_key for update;
    exit when found;
    if not exists (select from {{.schema}}._private_jobs as j where j.key = job_key) then
      return null;
    end if;
  end loop;

  perform {{.schema}}._gw_record_act('remove', 1, null, array[found_job.id])
    where current_setting('gw.actor', true) <> '';
  if found_job.locked_at is null or found_job.locked_at < now() - interval '4 hours' then
    perform set_config('gw.outcome', 'removed', true); -- for the history
    delete from {{.schema}}._private_jobs as j where j.id = found_job.id;
    perform set_config('gw.outcome', '', true);
    perform {{.schema}}._gw_wake(-1);
    return found_job;
  end if;
  return {{.schema}}._gw_retire(found_job.id);
end;
$$;

comment on function {{.schema}}.remove_job(text) is
  'Removes the job that is waiting under this key and returns it. A running job is returned too: it loses its key and is not tried again. Returns null if there is no job under the key.';
