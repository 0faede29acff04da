-- Fleet-wide settings, for all workers and functions of this schema.

-- Returns all settings with their defaults and bounds: an interval, a number, or one of a few words. Only a value that
-- differs from the default has a row in _gw_settings.
create or replace function {{.schema}}._gw_known_settings()
  returns table (name text, default_value text, least_value text, greatest_value text, words text[], meaning text)
  language sql immutable
as $$
  values ('beat_every', '5 seconds', '100 milliseconds', '1 minute', null::pg_catalog.text[],
          'the interval between the heartbeats of a worker; a quarter of dead_after if that is less'),
         ('dead_after', '30 seconds', '1 second', '4 hours', null,
          'how long a registered worker may be silent until it counts as dead and its jobs are recovered'),
         ('recovered_jobs', 'wait', null, null, '{wait,run}',
          'whether a job of a dead worker waits for its back-off, as a failed job does, or runs again at once'),
         ('crashes_allowed', '3', '1', '1000', null,
          'how many workers may die while they run a job alone; after the last of them the job fails permanently'),
         ('stale_sweep_every', '1 minute', '1 second', '1 hour', null,
          'the interval between searches for stale locks in the whole fleet'),
         ('forget_worker_after', '1 day', '5 hours', '1 year', null,
          'how long a registered worker that no longer sends heartbeats stays listed'),
         ('old_snapshot_after', '5 minutes', '1 second', '1 day', null,
          'how long a transaction may prevent vacuum from removing dead rows until doctor() reports it'),
         ('max_payload', '67108864', '1048576', '999999999', null,
          'the maximum size of a new job''s payload in bytes'),
         ('max_result', '1048576', '1024', '67108864', null,
          'the maximum size of the result of a job in bytes; see expect_result() and keep_task()'),
         ('audit_for', '90 days', '1 day', '100 years', null,
          'how long acts of operators are kept; see list_audit()'),
         ('samples_for', '7 days', '1 hour', '1 year', null,
          'how long samples of the queue are kept; see list_samples()'),
         ('notify', 'always', null, null, '{always,idle,never}',
          'when workers are notified of a new job: always, only while one of them is sleeping (idle), or never')
$$;

comment on function {{.schema}}._gw_known_settings() is 'Internal: returns all settings with their defaults and bounds: an interval, a number, or one of a few words.';

create or replace function {{.schema}}.setting(name text)
  returns text language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce((select s.value from {{.schema}}._gw_settings as s where s.name = setting.name),
                  (select k.default_value from {{.schema}}._gw_known_settings() as k where k.name = setting.name));
end;
$$;

comment on function {{.schema}}.setting(text) is
  'Returns the value of a fleet-wide setting, or its default if it is not set; null if there is no such setting.';

-- Returns the interval between heartbeats.
create or replace function {{.schema}}._gw_beat_every()
  returns interval language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return least({{.schema}}.setting('beat_every')::interval, {{.schema}}.setting('dead_after')::interval / 4);
end;
$$;

comment on function {{.schema}}._gw_beat_every() is 'Internal: returns the interval between heartbeats.';

-- Sets a fleet-wide setting for all workers and functions of this schema; null restores the default. Returns the value
-- in force.
-- Workers are notified when the setting notify changes, so that they search for jobs: jobs added before may not have
-- been announced, and sleeping workers have to set their marks if only sleepers are notified.
-- Raises GWSNM (unknown name), GWSVA (value out of bounds or of the wrong type).
create or replace function {{.schema}}.set_setting(
  name   text,
  value text
)
  returns text
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  known     record;
  is_number boolean;
  valid     boolean;
begin
  select k.* into known from {{.schema}}._gw_known_settings() as k where k.name = set_setting.name;
  if not found then
    raise exception 'There is no setting ''%''.', coalesce(set_setting.name, 'null')
      using errcode = 'GWSNM',
            hint = 'The settings are ' || (select string_agg(k.name, ', ' order by k.name) from {{.schema}}._gw_known_settings() as k) || '.';
  end if;

  is_number := known.least_value ~ '^[0-9]+$';
  begin
    valid := case when known.words is not null then set_setting.value = any (known.words)
                  when is_number and set_setting.value !~ '^[0-9]{1,9}$' then false
                  else set_setting.value::interval between known.least_value::interval and known.greatest_value::interval end; -- a number is seconds
  exception when invalid_datetime_format or datetime_field_overflow or interval_field_overflow then
    null;
  end;
  if valid is not true and set_setting.value is not null then
    raise exception 'Setting ''%'' must be %, not ''%''.', known.name,
        case when known.words is not null then 'one of ' || array_to_string(known.words, ', ')
             when is_number then format('a number from %s to %s', known.least_value, known.greatest_value)
             else format('an interval from %s to %s', known.least_value::interval, known.greatest_value::interval) end,
        set_setting.value
      using errcode = 'GWSVA';
  end if;
  if set_setting.value is null then
    delete from {{.schema}}._gw_settings as s where s.name = set_setting.name;
  else
    insert into {{.schema}}._gw_settings as s (name, value)
    values (set_setting.name, set_setting.value)
        on conflict on constraint _gw_settings_pkey do update set value = excluded.value, updated_at = now();
  end if;
  perform pg_notify('jobs:insert', '{"count":0}') where known.name = 'notify';
  perform {{.schema}}._gw_record_act('set', 0, known.name || ' = ' || coalesce(set_setting.value, 'default ' || known.default_value));
  return coalesce(set_setting.value, known.default_value);
end;
$$;

comment on function {{.schema}}.set_setting(text, text) is
  'Sets a fleet-wide setting and returns the value in force; null restores the default.';
