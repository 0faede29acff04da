-- Returns whether a day matches a pattern. The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_cron_matches_day(parsed {{.schema}}._gw_cron_patterns, day date)
  returns boolean language sql immutable
as $$
  select (parsed.months operator(pg_catalog.>>) extract(month from day)::integer)
         operator(pg_catalog.&) ((parsed.dates operator(pg_catalog.>>) extract(day from day)::integer)
                                 operator(pg_catalog.|) (parsed.dows operator(pg_catalog.>>) extract(dow from day)::integer))
         operator(pg_catalog.&) 1 operator(pg_catalog.=) 1
$$;

-- Returns the first matching day in a range; null if there is none. The function steps by month: it needs a few dozen
-- steps to the next leap year.
create or replace function {{.schema}}._gw_cron_next_day(parsed {{.schema}}._gw_cron_patterns, since date, until date)
  returns date language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  year  integer := extract(year from since);
  month integer := extract(month from since);
  first date;
  days  bigint;
begin
  loop
    if parsed.months >> month & 1 = 1 then
      first := make_date(year, month, 1);
      exit when first > until;
      -- Repeats the mask of the days of week to cover the days of this month.
      days := parsed.dates | (parsed.dows * 4432676798593 >> extract(dow from first)::integer << 1);
      for day in greatest(since - first, 0) + 1 .. extract(day from first + interval '1 month' - interval '1 day')::integer loop
        if days >> day & 1 = 1 then
          return case when first + day - 1 <= until then first + day - 1 end;
        end if;
      end loop;
    end if;
    month := month % 12 + 1;
    if month = 1 then
      year := year + 1;
      exit when year > extract(year from until);
    end if;
  end loop;
  return null;
end;
$$;
