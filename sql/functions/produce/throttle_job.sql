-- Adds a job whose run_at is at least the interval every after that of the last job of such a call under its key: the
-- first call adds a job that is due now; calls within the interval share one that is due at its end. A call while this
-- job waits under the key replaces its payload and options, as add_job() does, but not the run_at that such calls have
-- given it. If a job under the key has failed and waits for its next attempt, its run_at is kept, and the interval
-- counts from then, unless it is infinite: then the job is due after the interval.
-- Locks: as _gw_hold_keyed_call, then the row under the key, then as add_job. Calls under the same key wait for each
-- other.
-- Raises GWOKY (no key), GWOIV (interval), and what add_job raises.
create or replace function {{.schema}}.throttle_job(
  task         text,
  payload      json     default null,
  key          text     default null,
  every        interval default null,
  queue_name   text     default null,
  max_attempts integer  default null,
  priority     integer  default null,
  flags        text[]   default null
)
  returns table (id bigint, state text, due_at timestamptz, revision integer, is_new boolean)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
#variable_conflict use_variable
declare
  last    {{.schema}}._gw_keyed_calls; -- the record of the last call
  held    {{.schema}}._gw_keyed_calls; -- that of this one
  waiting record;
begin
  perform {{.schema}}._gw_check_interval('every', every, false);
  last := {{.schema}}._gw_hold_keyed_call('throttle', task, key, queue_name, max_attempts, priority, flags);
  loop
    held := last;
    waiting := {{.schema}}._gw_waiting_job(key);
    -- began_at is the run_at of the last of these jobs. It is later than the next interval if jobs were removed before
    -- they started; a job that an operator had parked for centuries counts for a hundred intervals.
    if (waiting.id = held.job_id) is not true then
      held.began_at := greatest(now(), case when held.job_id is not null then least(held.began_at, clock_timestamp() + 100 * every) + every end);
    end if;
    if waiting.attempts > 0 then
      held.began_at := greatest(held.began_at, case when isfinite(waiting.run_at) then waiting.run_at else now() + every end);
    end if;
    held.kept_until := held.began_at + every;
    return query
    select a.*
      from {{.schema}}._gw_add_held_job(
             held, row(task, payload, queue_name, held.began_at, max_attempts, key, priority, flags)::{{.schema}}.job_spec,
             waiting.id is null) as a
     where a.id is not null;
    exit when found;
  end loop;
end;
$$;

comment on function {{.schema}}.throttle_job(text, json, text, interval, text, integer, integer, text[]) is
  'Adds a job that runs at most once in the interval every: its run_at is at least so long after that of the last job of such a call under its key. Returns the job. While this job waits, a call replaces it as add_job() does, but for its run_at; the time of its next attempt after a failure is kept. The other arguments are those of add_job().';
