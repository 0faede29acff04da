-- Returns the first minute, in UTC, at which the offset of a time zone differs from its offset at start. The caller
-- makes sure that the offset at stop differs. The function uses binary search.
create or replace function {{.schema}}._gw_zone_change(start timestamp, stop timestamp, time_zone text)
  returns timestamp language plpgsql stable set search_path = pg_catalog, pg_temp
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
