-- Returns when a pattern runs after since, up to and including until, in order; at most most times if that is given.
-- The function divides the time range into pieces: each is a local day, or the part of one before or after an offset
-- change. Within a piece the offset from UTC is constant, so local minutes are minutes of real time. For a pattern with
-- intervals of real time that is sufficient. A fixed time of day runs at the first pass of its local time only, not
-- when that local time is repeated. If its local time is skipped, it runs at the first minute after the gap.
create or replace function {{.schema}}._gw_cron_runs(
  parsed {{.schema}}._gw_cron_patterns, since timestamptz, until timestamptz, time_zone text, most integer default null)
  returns setof timestamptz language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  -- Timestamps are whole minutes. Those of real time are in UTC.
  earliest timestamp := date_trunc('minute', since at time zone 'UTC') + interval '1 minute';
  latest   constant timestamp := date_trunc('minute', until at time zone 'UTC');
  last_day constant date := (until at time zone time_zone)::date + 2;
  -- The bounds of a piece: local time at its start, at its stop, and at its stop by the next offset. The first piece
  -- starts a day early, to find out which local times have passed.
  start    timestamp := earliest - interval '1 day';
  stop     timestamp;
  here     timestamp;
  there    timestamp;
  beyond   timestamp;
  reached  timestamp := timestamp '-infinity'; -- local times before this have passed or were skipped
  day      date;
  next_day date;
  first    integer; -- minute of the day
  last     integer;
  hours    constant bigint := parsed.hours;
  minutes  constant bigint := parsed.minutes;
  runs     integer := 0;
begin
  while start <= latest loop
    here := date_trunc('minute', start at time zone 'UTC' at time zone time_zone);
    day := here::date;

    -- Skip days until two days before the next matching day. No offset change is longer than a day in either direction.
    next_day := {{.schema}}._gw_cron_next_day(parsed, day - 1, last_day);
    exit when next_day is null;
    if next_day > day + 2 then
      start := greatest(start + interval '1 minute',
                        date_trunc('minute', (next_day - 2)::timestamp at time zone time_zone at time zone 'UTC'));
      continue;
    end if;

    there := day + 1;
    stop := start + (there - here);
    beyond := date_trunc('minute', stop at time zone 'UTC' at time zone time_zone);
    if beyond <> there then
      stop := {{.schema}}._gw_zone_change(start, stop, time_zone);
      there := here + (stop - start);
      beyond := date_trunc('minute', stop at time zone 'UTC' at time zone time_zone);
    end if;

    if {{.schema}}._gw_cron_matches_day(parsed, day) then
      first := extract(epoch from greatest(here, here + (earliest - start), case when parsed.by_clock then reached end)
                                  - day) / 60;
      last := extract(epoch from least(there - interval '1 minute', here + (latest - start)) - day) / 60;
      for hour in first / 60 .. last / 60 loop
        continue when hours >> hour & 1 = 0;
        for minute in greatest(first, hour * 60) .. least(last, hour * 60 + 59) loop
          continue when minutes >> minute - hour * 60 & 1 = 0;
          return next (start + (day + minute * interval '1 minute' - here)) at time zone 'UTC';
          runs := runs + 1;
          if runs = most then
            return;
          end if;
        end loop;
      end loop;
    end if;

    -- The gap is searched as if its local times existed. The next piece may have a run of its own at that minute.
    if parsed.by_clock and beyond > there and stop between earliest and latest
       and exists (select from {{.schema}}._gw_cron_runs(parsed, (there - interval '1 minute') at time zone 'UTC',
                                                         (beyond - interval '1 minute') at time zone 'UTC', 'UTC', 1)) then
      return next stop at time zone 'UTC';
      runs := runs + 1;
      exit when runs = most;
      earliest := stop + interval '1 minute';
    end if;
    reached := greatest(reached, there);
    start := stop;
  end loop;
end;
$$;
