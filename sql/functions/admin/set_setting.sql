-- Sets a fleet-wide setting for all workers and functions of this schema; null restores the default. Returns the value
-- in force.
-- Workers are notified when the setting notify changes, so that they search for jobs: jobs added before may not have
-- been announced, and sleeping workers have to set their marks if only sleepers are notified.
-- Raises GWSNM (unknown name), GWSVA (value out of bounds or of the wrong type).
create or replace function {{.schema}}.set_setting(
  name  text,
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
