-- Schedules whose time zone cron_schedule refuses by now: it has no name of pg_timezone_names.
create or replace function {{.schema}}._gw_find_refused_zones()
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'refused time zone',
         'schedule ' || s.identifier,
         format('Its time zone %L is no name of a time zone. ', s.time_zone)
         || case when {{.schema}}._gw_zone_exists(s.time_zone)
                 then 'It runs, perhaps hours off: an abbreviation has one offset all year, and the signs of POSIX are the other way round.'
                 else 'It does not run.' end,
         'Call cron_schedule with another one: ' || {{.schema}}._gw_zone_hint(s.time_zone)
    from {{.schema}}._gw_schedules as s
   where not s.paused and not {{.schema}}._gw_is_zone_name(s.time_zone)
   order by s.identifier
   limit 10
$$;

comment on function {{.schema}}._gw_find_refused_zones() is 'Internal: schedules whose time zone cron_schedule refuses by now: it has no name of pg_timezone_names.';
