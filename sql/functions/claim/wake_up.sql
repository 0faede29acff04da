-- Removes the mark of fall_asleep, for a worker that has enough jobs, so that with the setting notify = idle producers
-- need not notify it. Without this call the mark expires.
-- Do not call it and fall_asleep at the same time.
-- Locks: the worker's mark.
create or replace function {{.schema}}.wake_up(worker_id text)
  returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  delete from {{.schema}}._gw_sleepers as s where s.worker_id = wake_up.worker_id;
end;
$$;

comment on function {{.schema}}.wake_up(text) is
  'Removes the mark of fall_asleep: the worker is no longer waiting, and producers need not notify it. The call is optional, because the mark expires.';
