-- Stores the parsed patterns of recurring jobs in _gw_cron_patterns, so that each is parsed once. If there are more
-- than 10 000, the function deletes patterns that neither this call nor a schedule uses. A pattern that is not stored
-- is parsed each time, with the same result.
-- Locks: new patterns, sorted; patterns to delete, skipping locked ones.
-- Raises GWRPT.
create or replace function {{.schema}}._gw_remember_patterns(entries {{.schema}}._gw_schedules[], source text)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  unknown {{.schema}}._gw_cron_patterns[];
  room    bigint;
begin
  unknown := array(
    select p
      from (select e.pattern, min(e.ordinality) as number
              from unnest(entries) with ordinality as e
             where not exists (select from {{.schema}}._gw_cron_patterns as k where k.pattern = e.pattern)
             group by e.pattern
             order by e.pattern) as m
     cross join lateral {{.schema}}._gw_cron_parse(
       m.pattern, coalesce(source, 'item ' || m.number || ' of run_cron call')) as p);
  if cardinality(unknown) = 0 then
    return;
  end if;

  room := 10000 - (select count(*) from {{.schema}}._gw_cron_patterns);
  if room < cardinality(unknown) then
    delete from {{.schema}}._gw_cron_patterns as k
     where k.pattern in (
             select l.pattern
               from {{.schema}}._gw_cron_patterns as l
              where l.pattern not in (select e.pattern from unnest(entries) as e)
                and l.pattern not in (select s.pattern from {{.schema}}._gw_schedules as s)
                for update of l skip locked);
    room := 10000 - (select count(*) from {{.schema}}._gw_cron_patterns);
  end if;
  insert into {{.schema}}._gw_cron_patterns (pattern, minutes, hours, dates, months, dows, by_clock)
  select u.pattern, u.minutes, u.hours, u.dates, u.months, u.dows, u.by_clock
    from unnest(unknown) as u
   order by u.pattern
   limit greatest(0, room)
      on conflict (pattern) do nothing;
end;
$$;

comment on function {{.schema}}._gw_remember_patterns({{.schema}}._gw_schedules[], text) is 'Internal: stores the parsed patterns of recurring jobs in _gw_cron_patterns, so that each is parsed once.';
