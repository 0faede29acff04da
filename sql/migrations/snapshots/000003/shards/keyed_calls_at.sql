-- add_job_once, debounce_job and throttle_job in a shard; see add_job_at. Their records belong to the slot, and move with it.
-- Locks: the row of the slot and those of names; then as the function without _at.
-- Raises GWSNS, GWSLT, GWSMV, and what that function raises.

create or replace function {{.schema}}.add_job_once_at(
  slot         integer,
  task         text,
  payload      json        default null,
  key          text        default null,
  within       interval    default '1 day',
  queue_name   text        default null,
  run_at       timestamptz default null,
  max_attempts integer     default null,
  priority     integer     default null,
  flags        text[]      default null
)
  returns table (id bigint, state text, due_at timestamptz, revision integer, is_new boolean)
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_hold_shard_slot(slot);
  perform {{.schema}}._gw_place_name('key', key, slot), {{.schema}}._gw_place_name('queue', queue_name, slot);
  return query
  select a.* from {{.schema}}.add_job_once(task, payload, key, within, queue_name, run_at, max_attempts, priority, flags) as a;
end;
$$;

comment on function {{.schema}}.add_job_once_at(integer, text, json, text, interval, text, timestamptz, integer, integer, text[]) is
  'Adds a job as add_job_once() does, but only if this database is the shard that has the slot; see add_job_at().';

create or replace function {{.schema}}.debounce_job_at(
  slot         integer,
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
as $$
begin
  perform {{.schema}}._gw_hold_shard_slot(slot);
  perform {{.schema}}._gw_place_name('key', key, slot), {{.schema}}._gw_place_name('queue', queue_name, slot);
  return query
  select a.* from {{.schema}}.debounce_job(task, payload, key, wait, max_wait, queue_name, max_attempts, priority, flags) as a;
end;
$$;

comment on function {{.schema}}.debounce_job_at(integer, text, json, text, interval, interval, text, integer, integer, text[]) is
  'Adds a job as debounce_job() does, but only if this database is the shard that has the slot; see add_job_at().';

create or replace function {{.schema}}.throttle_job_at(
  slot         integer,
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
as $$
begin
  perform {{.schema}}._gw_hold_shard_slot(slot);
  perform {{.schema}}._gw_place_name('key', key, slot), {{.schema}}._gw_place_name('queue', queue_name, slot);
  return query
  select a.* from {{.schema}}.throttle_job(task, payload, key, every, queue_name, max_attempts, priority, flags) as a;
end;
$$;

comment on function {{.schema}}.throttle_job_at(integer, text, json, text, interval, text, integer, integer, text[]) is
  'Adds a job as throttle_job() does, but only if this database is the shard that has the slot; see add_job_at().';
