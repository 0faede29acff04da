-- Returns when a pattern runs in a time zone after since, up to and including until, in order.
-- Raises GWRPT (invalid pattern), GWRTZ (unknown time zone), GWRBT (a bound that is not in the years 1 to 199999).
create or replace function {{.schema}}.cron_between(
  pattern   text,
  since     timestamptz,
  until     timestamptz,
  time_zone text default 'UTC'
)
  returns setof timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  parsed constant {{.schema}}._gw_cron_patterns := {{.schema}}._gw_cron_parse(pattern, 'cron_between call');
begin
  perform {{.schema}}._gw_check_zone(time_zone);
  if not ({{.schema}}._gw_in_calendar(since) and {{.schema}}._gw_in_calendar(until)) then
    raise exception 'since and until must be in the years 1 to 199999, not % and %.', since, until using errcode = 'GWRBT';
  end if;
  return query select r.run from {{.schema}}._gw_cron_runs(parsed, since, until, time_zone) as r (run);
end;
$$;

comment on function {{.schema}}.cron_between(text, timestamptz, timestamptz, text) is
  'Returns when a cron pattern runs after since, up to and including until, in order.';
