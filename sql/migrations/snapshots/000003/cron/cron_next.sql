-- Returns the next run of a pattern after a time, in a time zone; null if it has none within nine years, or if the time
-- is outside of the years 1 to 199999. 29 February recurs after eight years at the latest.
-- Raises GWRPT (invalid pattern), GWRTZ (unknown time zone).
create or replace function {{.schema}}.cron_next(
  pattern   text,
  after     timestamptz,
  time_zone text default 'UTC'
)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_zone(time_zone);
  return {{.schema}}._gw_cron_next(pattern, after, time_zone);
end;
$$;

comment on function {{.schema}}.cron_next(text, timestamptz, text) is
  'Returns the next run of a cron pattern after a time; null if there is none.';

-- cron_next for a stored schedule, whose time zone may be one that is refused by now.
-- Raises GWRPT (invalid pattern).
create or replace function {{.schema}}._gw_cron_next(pattern text, after timestamptz, time_zone text)
  returns timestamptz language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  parsed constant {{.schema}}._gw_cron_patterns := {{.schema}}._gw_cron_parse(pattern, 'cron_next call');
begin
  if not {{.schema}}._gw_in_calendar(after) then
    return null;
  end if;
  return (select r.run from {{.schema}}._gw_cron_runs(parsed, after, after + interval '78900 hours', time_zone, 1) as r (run));
end;
$$;

comment on function {{.schema}}._gw_cron_next(text, timestamptz, text) is 'Internal: cron_next for a stored schedule, whose time zone may be one that is refused by now.';
