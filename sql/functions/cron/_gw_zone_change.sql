-- The first minute of real time, in UTC, at which a zone has another offset from UTC than at the start; the caller knows
-- that it has by the stop. Halves the time between.
create or replace function {{.schema}}._gw_zone_change(
  start     timestamp,
  stop      timestamp,
  time_zone text
)
  returns timestamp
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  shift  constant interval := (start at time zone 'UTC' at time zone time_zone) - start;
  before timestamp := start;
  after  timestamp := stop;
  middle timestamp;
begin
  while after - before > interval '1 minute' loop
    middle := date_trunc('minute', before + (after - before) / 2);
    if (middle at time zone 'UTC' at time zone time_zone) - middle = shift then
      before := middle;
    else
      after := middle;
    end if;
  end loop;
  return after;
end;
$$;

comment on function {{.schema}}._gw_zone_change(timestamp, timestamp, text) is
  'Internal: the first minute, in UTC, at which a zone has another offset from UTC than at the start.';
