-- For a worker that found no job and is about to wait. Returns when a job is next due, as next_run_at does, and makes
-- sure that the worker is notified of new jobs. With the setting notify = idle this needs a mark. The mark expires
-- after lasting, or is removed by wake_up. If more than half of lasting is left, the mark is not renewed.
--
-- A producer first inserts its job and then reads the marks. A producer that did not see a new mark, or saw that the
-- previous mark had expired, inserted its job before the new mark was committed. So after that commit either its
-- transaction is still in flight or its job is visible. If must_look_again is true, the worker must therefore commit,
-- call still_in_flight, search for jobs once more, and search again after each of the returned transactions has ended.
-- All other producers notify the worker.
-- If lasting is null, no mark is set; this is for a worker that polls.
-- Locks: the worker's mark.
-- Raises GWWID; GWWEX unless lasting is positive and at most 1000 years.
create or replace function {{.schema}}.fall_asleep(
  worker_id        text,
  task_identifiers text[]   default null,
  lasting          interval default '10 seconds'
)
  returns table (next_run_at timestamptz, must_look_again boolean) language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  perform {{.schema}}._gw_check_worker_id(worker_id);
  if lasting is not null then
    perform {{.schema}}._gw_check_expiry(lasting);
  end if;

  next_run_at := {{.schema}}.next_run_at(task_identifiers);
  must_look_again :=
    lasting is not null
    and exists (select from {{.schema}}._gw_settings as s where s.name = 'notify' and s.value = 'idle')
    and not exists (select from {{.schema}}._gw_sleepers as s
                     where s.worker_id = fall_asleep.worker_id and s.until > clock_timestamp() + lasting / 2);
  if must_look_again then
    insert into {{.schema}}._gw_sleepers as s (worker_id, until)
    values (fall_asleep.worker_id, clock_timestamp() + lasting)
        on conflict on constraint _gw_sleepers_pkey do update set until = excluded.until;
  end if;
  return next;
end;
$$;

comment on function {{.schema}}.fall_asleep(text, text[], interval) is
  'Marks a worker as waiting and returns when a job of these tasks (all if null) is next due: never too late, null if none is known. With the setting notify = idle the mark makes producers notify the worker until lasting is over. If must_look_again is true, commit, call still_in_flight, search for jobs once more, and again when one of those transactions has ended. lasting null: no mark, for a worker that polls.';
