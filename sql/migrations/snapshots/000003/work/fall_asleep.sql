-- For a worker that found no job and is about to wait: returns when a job is next due, as next_run_at does, and sees to
-- it that the worker is told of jobs that are added, which with setting notify = idle takes a mark. The mark is over
-- after lasting, or by wake_up; while more than half of lasting is left, it stays as it is.
--
-- Who adds a job writes it first and looks for marks then. Whoever did not see a new mark, or saw the one before it
-- over, had therefore written before the mark was committed: its transaction is still in flight after that, or else its
-- job is there to be found. So when must_look_again is true, commit, then ask still_in_flight, and look for jobs once
-- more, and again when any of these transactions has ended. A job that is added by any other is announced.
-- With lasting null nothing is marked, for a worker that polls.
-- Locks: the worker's mark.
-- Raises GWWID; GWWEX unless lasting is positive and at most 1000 years.
create or replace function {{.schema}}.fall_asleep(
  worker_id        text,
  task_identifiers text[]   default null,
  lasting          interval default '10 seconds'
)
  returns table (next_run_at timestamptz, must_look_again boolean)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
begin
  if coalesce(length(worker_id), 0) not between 1 and 128 then
    raise exception 'Worker id must be 1 to 128 characters long.' using errcode = 'GWWID';
  elsif lasting is not null then
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
  'Says that a worker waits, and when a job of these tasks (all if null) is next due: never too late, null if none is known. With setting notify = idle it marks the worker for as long as lasting, so that it is told of jobs; if must_look_again, ask still_in_flight after the commit, and look for jobs once more and whenever one of those transactions has ended. lasting null: no mark, for a worker that polls.';
