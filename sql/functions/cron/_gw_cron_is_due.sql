-- Returns whether a pattern runs in the minute that begins at a time. The local time suffices, except for a fixed time
-- of day within a day of an offset change of the time zone.
create or replace function {{.schema}}._gw_cron_is_due(
  parsed {{.schema}}._gw_cron_patterns, at timestamptz, time_zone text)
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  here constant timestamp := at at time zone time_zone;
begin
  if parsed.by_clock
     and here - ((at - interval '24 hours') at time zone time_zone) <> interval '24 hours' then
    return exists (select from {{.schema}}._gw_cron_runs(parsed, at - interval '1 minute', at, time_zone));
  end if;
  return (parsed.minutes >> extract(minute from here)::integer)
         & (parsed.hours >> extract(hour from here)::integer) & 1 = 1
         and {{.schema}}._gw_cron_matches_day(parsed, here::date);
end;
$$;
