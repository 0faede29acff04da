-- Returns whether the server can compute with a time zone. It can also with abbreviations and with zones by POSIX,
-- which _gw_is_zone_name refuses: recurring jobs that have one continue to run.
create or replace function {{.schema}}._gw_zone_exists(time_zone text)
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return now() at time zone time_zone is not null;
exception when invalid_parameter_value then
  return false;
end;
$$;

comment on function {{.schema}}._gw_zone_exists(text) is 'Internal: returns whether the server can compute with a time zone.';

-- Returns whether a time zone has a name of pg_timezone_names, in upper or lower case. The view reads all files of time
-- zones, so it is asked only about names that an abbreviation or a zone by POSIX could have: these have digits, or no
-- slash.
create or replace function {{.schema}}._gw_is_zone_name(time_zone text)
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if not {{.schema}}._gw_zone_exists(time_zone) then
    return false;
  end if;
  return time_zone ~* '^[a-z_-]+(/[a-z_-]+)+$' or lower(time_zone) = 'utc'
         or exists (select from pg_timezone_names as n where lower(n.name) = lower(time_zone));
end;
$$;

comment on function {{.schema}}._gw_is_zone_name(text) is 'Internal: returns whether a time zone has a name of pg_timezone_names, in upper or lower case.';

-- Raises GWRTZ unless the server has a time zone of this name.
create or replace function {{.schema}}._gw_check_zone(time_zone text)
  returns void language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if not {{.schema}}._gw_is_zone_name(time_zone) then
    raise exception 'Time zone ''%'' is not known to the server.', coalesce(time_zone, 'null')
      using errcode = 'GWRTZ', hint = {{.schema}}._gw_zone_hint(time_zone);
  end if;
end;
$$;

comment on function {{.schema}}._gw_check_zone(text) is 'Internal: raises GWRTZ unless the server has a time zone of this name.';

-- Returns what to write instead of a time zone that is refused.
create or replace function {{.schema}}._gw_zone_hint(time_zone text)
  returns text language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  hours constant text[] := regexp_match(time_zone, '^(?:UTC|GMT)?([+-])0?([0-9]{1,2})(?::?00)?$', 'i');
begin
  return case when hours[2]::integer between 1 and 12
              then format('For the fixed offset UTC%1$s%2$s write Etc/GMT%3$s%2$s, with the sign of POSIX; ', hours[1], hours[2],
                          translate(hours[1], '+-', '-+'))
              when time_zone ~* '^[a-z]{3,5}$' then 'Abbreviations are no time zones; '
              else '' end
         || 'the view pg_timezone_names lists the names, such as Europe/Paris.';
end;
$$;

comment on function {{.schema}}._gw_zone_hint(text) is 'Internal: returns what to write instead of a time zone that is refused.';
