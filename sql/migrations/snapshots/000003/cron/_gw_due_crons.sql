-- Returns those of the due runs that one call adds, by the number of the entry, in their order, and the last of them of
-- an entry of which more are due: of several entries the earliest, -infinity if one has none, null if nothing is left.
-- Entries of which runs before since are due come last.
-- A known entry is backfilled as far as its fill allows: when the worker has just started (since is null), and by later
-- calls if there were too many for one. All runs after since are due.
create or replace function {{.schema}}._gw_chosen_crons(
  entries {{.schema}}._gw_schedules[], since timestamptz, handled timestamptz, now timestamptz,
  out numbers bigint[], out runs timestamptz[], out left_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  most constant integer := least(1000, 10 + 20000 / greatest(cardinality(entries), 1)); -- runs of an entry to look at
begin
  -- Bounds are exclusive. Subtracting a microsecond from a time includes it.
  with looked as (
    select e.ordinality as number, d.run
      from unnest(entries) with ordinality as e
      left join {{.schema}}._gw_cron_patterns as r on r.pattern = e.pattern
     cross join lateral (
             select case when r.pattern is not null then r
                         else {{.schema}}._gw_cron_parse(e.pattern, e.identifier) end as parsed) as p
      left join {{.schema}}._private_known_crontabs as k on k.identifier = e.identifier
     cross join lateral (
             select _gw_chosen_crons.now - extract(epoch from e.fill) * interval '1 second'
                    - interval '1 microsecond' as since) as f
     cross join lateral (
             select greatest(
                      case when k.identifier is null or e.fill = interval '0' and _gw_chosen_crons.since is not null
                             then coalesce(_gw_chosen_crons.since, handled)
                           when _gw_chosen_crons.since is not null
                             then least(greatest(f.since, k.known_since), _gw_chosen_crons.since)
                           else greatest(f.since, k.known_since - interval '1 microsecond') end,
                      e.active_since - interval '1 microsecond',
                      k.last_execution) as since) as w
     cross join lateral (
             -- The usual case: a single minute.
             select handled as run
              where w.since between handled - interval '1 minute' and handled - interval '1 microsecond'
                and {{.schema}}._gw_cron_is_due(p.parsed, handled, e.time_zone)
             union all
             select m.run
               from {{.schema}}._gw_cron_runs(p.parsed, w.since, handled, e.time_zone, most) as m (run)
              where w.since < handled - interval '1 minute') as d
  ), due as (
    select d.number, d.run, row_number() over (order by d.has_backlog, d.run, d.number) <= 1000 as is_chosen,
           d.has_backlog
      from (select u.number, u.run,
                   bool_or(u.run <= _gw_chosen_crons.since) over (partition by u.number) is true as has_backlog
              from looked as u) as d
  )
  select array_agg(d.number order by d.has_backlog, d.run, d.number) filter (where d.is_chosen),
         array_agg(d.run order by d.has_backlog, d.run, d.number) filter (where d.is_chosen),
         (select min(e.last) filter (where e.is_cut)
            from (select coalesce(max(u.run) filter (where u.is_chosen), '-infinity') as last,
                         count(*) = most or not bool_and(u.is_chosen) as is_cut
                    from due as u
                   group by u.number) as e)
    into numbers, runs, left_at
    from due as d;
end;
$$;

comment on function {{.schema}}._gw_chosen_crons({{.schema}}._gw_schedules[], timestamptz, timestamptz, timestamptz) is 'Internal: returns those of the due runs that one call adds, by the number of the entry, in their order, and the last of them of an entry of which more are due: of several entries the earliest, -infinity if one has none, null if nothing is left.';
