-- Parses a cron pattern into bit masks: bit n of a field stands for its value n.

-- Parses one field: a comma-separated list of N, A-B, * and */N. Its error messages are those of Graphile Worker.
-- source describes where the pattern comes from.
-- Raises GWRPT.
create or replace function {{.schema}}._gw_cron_field(
  field text, name text, lowest integer, highest integer, source text)
  returns bigint language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  whole  constant bigint := (2::bigint << highest) - (1::bigint << lowest);
  -- 7 is Sunday, as is 0.
  last   constant integer := highest + case when name = 'days of week' then 1 else 0 end;
  place  constant text := name || ' range in ' || source;
  part   text;
  bounds numeric[];
  mask   bigint := 0;
begin
  if field = '*' then
    return whole;
  end if;
  foreach part in array string_to_array(field, ',') loop
    if part ~ '^[0-9]+(-[0-9]+)?$' then
      bounds := string_to_array(part, '-')::numeric[];
      if bounds[2] <= bounds[1] then
        raise exception 'Invalid range ''%'' in %: destination is not larger than source', part, place using errcode = 'GWRPT';
      elsif bounds[1] < lowest then
        raise exception 'Too small value ''%'' in %: expected values in the range %-%.', bounds[1], place, lowest, highest
          using errcode = 'GWRPT';
      elsif coalesce(bounds[2], bounds[1]) > last then
        raise exception 'Too large value ''%'' in %: expected values in the range %-%.',
          greatest(bounds[1], last + 1), place, lowest, highest
          using errcode = 'GWRPT';
      end if;
      mask := mask | (2::bigint << coalesce(bounds[2], bounds[1])::integer) - (1::bigint << bounds[1]::integer);
    elsif part ~ '^[*]/0+$' then
      raise exception 'Invalid wildcard expression ''%'' in %: divisor ''%'' expected to be greater than zero',
        part, place, substr(part, 3)
        using errcode = 'GWRPT';
    elsif part ~ '^[*](/[0-9]+)?$' then
      for value in lowest..highest by least(coalesce(nullif(substr(part, 3), ''), '1')::numeric, 60)::integer loop
        mask := mask | (1::bigint << value);
      end loop;
    else
      raise exception 'Unsupported syntax ''%'' in %: this doesn''t appear to be a number, range or wildcard', part, place
        using errcode = 'GWRPT';
    end if;
  end loop;
  if last > highest then
    mask := (mask | (mask >> 7)) & whole;
  end if;
  return mask;
end;
$$;

-- Parses the five fields. If only one of dates and days of week is restricted, a day has to match that field; if both
-- are restricted, a day has to match one of them. A field that does not count gets an empty mask, so a day matches if
-- either mask matches.
-- Raises GWRPT.
create or replace function {{.schema}}._gw_cron_parse(pattern text, source text)
  returns {{.schema}}._gw_cron_patterns language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  fields text[] := regexp_match(
    pattern, '^([0-9*/,-]+)[[:space:]]+([0-9*/,-]+)[[:space:]]+([0-9*/,-]+)[[:space:]]+([0-9*/,-]+)[[:space:]]+([0-9*/,-]+)$');
  parsed {{.schema}}._gw_cron_patterns;
begin
  if fields is null then
    raise exception 'Invalid cron pattern ''%'' in %', coalesce(pattern, 'null'), source using errcode = 'GWRPT';
  end if;
  parsed.pattern := _gw_cron_parse.pattern;
  parsed.minutes := {{.schema}}._gw_cron_field(fields[1], 'minutes', 0, 59, source);
  parsed.hours   := {{.schema}}._gw_cron_field(fields[2], 'hours', 0, 23, source);
  parsed.dates   := {{.schema}}._gw_cron_field(fields[3], 'dates', 1, 31, source);
  parsed.months  := {{.schema}}._gw_cron_field(fields[4], 'months', 1, 12, source);
  parsed.dows    := {{.schema}}._gw_cron_field(fields[5], 'days of week', 0, 6, source);

  -- All dates: 2^32 - 2; all days of week: 2^7 - 1; all hours: 2^24 - 1.
  if parsed.dows = 127 then
    parsed.dows := 0;
  elsif parsed.dates = 4294967294 then
    parsed.dates := 0;
  end if;
  parsed.by_clock := fields[2] !~ '[*-]' and parsed.hours <> 16777215;
  return parsed;
end;
$$;
