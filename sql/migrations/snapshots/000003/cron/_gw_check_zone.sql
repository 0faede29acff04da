-- Returns whether the server has a time zone.
create or replace function {{.schema}}._gw_zone_exists(time_zone text)
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return now() at time zone time_zone is not null;
exception when invalid_parameter_value then
  return false;
end;
$$;

comment on function {{.schema}}._gw_zone_exists(text) is 'Internal: returns whether the server has a time zone.';

-- Raises GWRTZ unless the server has a time zone.
create or replace function {{.schema}}._gw_check_zone(time_zone text)
  returns void language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if not {{.schema}}._gw_zone_exists(time_zone) then
    raise exception 'Time zone ''%'' is not known to the server.', coalesce(time_zone, 'null')
      using errcode = 'GWRTZ', hint = 'The view pg_timezone_names lists them.';
  end if;
end;
$$;

comment on function {{.schema}}._gw_check_zone(text) is 'Internal: raises GWRTZ unless the server has a time zone.';
