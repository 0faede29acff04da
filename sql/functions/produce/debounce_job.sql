-- Adds a job that runs when no call under its key has come for the time wait, but at most max_wait after the first call
-- since the job has last started. Each call replaces what is waiting under the key, as add_job() does, and returns it.
-- If the job has failed and waits for its next attempt, its run_at is kept, unless it is infinite: no call makes the
-- job run earlier. A start after which add_job() or an operator has reset the attempts does not count: the job looks as
-- if it had not started.
-- Locks: as _gw_hold_keyed_call, then the row under the key, then as add_job. Calls under the same key wait for each
-- other.
-- Raises GWOKY (no key), GWOIV (interval), and what add_job raises.
create or replace function {{.schema}}.debounce_job(
  task         text,
  payload      json     default null,
  key          text     default null,
  wait         interval default null,
  max_wait     interval default null,
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
  at      timestamptz;
begin
  perform {{.schema}}._gw_check_interval('wait', wait, true);
  if max_wait is not null then
    perform {{.schema}}._gw_check_interval('max_wait', max_wait, true);
  end if;
  last := {{.schema}}._gw_hold_keyed_call('debounce', task, key, queue_name, max_attempts, priority, flags);
  loop
    held := last;
    waiting := {{.schema}}._gw_waiting_job(key);
    at := clock_timestamp();
    -- Our calls reset the attempts, so a job with attempts has started since.
    if (waiting.id = held.job_id and waiting.attempts = 0) is not true then
      held.began_at := at;
      held.not_before := case when waiting.attempts > 0 and isfinite(waiting.run_at) then waiting.run_at end;
    end if;
    held.kept_until := greatest(least(at + wait, held.began_at + max_wait), held.not_before);
    return query
    select a.*
      from {{.schema}}._gw_add_held_job(
             held, row(task, payload, queue_name, held.kept_until, max_attempts, key, priority, flags)::{{.schema}}.job_spec,
             waiting.id is null) as a
     where a.id is not null;
    exit when found;
  end loop;
end;
$$;

comment on function {{.schema}}.debounce_job(text, json, text, interval, interval, text, integer, integer, text[]) is
  'Adds a job that runs when no call under its key has come for the time wait: at most max_wait after the first call since the job has last started. Returns the job. Each call replaces the waiting job as add_job() does; the time of its next attempt after a failure is kept. max_wait: no limit if null. The other arguments are those of add_job().';
