-- Returns whether a pattern runs in the minute of a time, in a time zone. docs/cron.md describes offset changes. The
-- result is false outside of the years 1 to 199999.
-- Raises GWRPT (invalid pattern), GWRTZ (unknown time zone).
create or replace function {{.schema}}.cron_matches(
  pattern   text,
  at        timestamptz,
  time_zone text default 'UTC'
)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  parsed constant {{.schema}}._gw_cron_patterns := {{.schema}}._gw_cron_parse(pattern, 'cron_matches call');
begin
  perform {{.schema}}._gw_check_zone(time_zone);
  return {{.schema}}._gw_in_calendar(at)
         and {{.schema}}._gw_cron_is_due(parsed, date_trunc('minute', at at time zone 'UTC') at time zone 'UTC', time_zone);
end;
$$;

comment on function {{.schema}}.cron_matches(text, timestamptz, text) is
  'Returns whether a cron pattern runs in the minute of a time.';
