-- Returns the due runs of recurring jobs by the number of the entry. If since is null (the worker has just started), a
-- known entry is backfilled as far as its fill allows; otherwise all runs after since are due.
create or replace function {{.schema}}._gw_due_crons(
  entries {{.schema}}._gw_schedules[], since timestamptz, handled timestamptz, now timestamptz)
  returns table (number bigint, run timestamptz) language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  -- Bounds are exclusive. Subtracting a microsecond from a time includes it.
  return query
  select e.ordinality, d.run
    from unnest(entries) with ordinality as e
    left join {{.schema}}._gw_cron_patterns as r on r.pattern = e.pattern
   cross join lateral (
           select case when r.pattern is not null then r
                       else {{.schema}}._gw_cron_parse(e.pattern, e.identifier) end as parsed) as p
    left join {{.schema}}._private_known_crontabs as k on k.identifier = e.identifier
   cross join lateral (
           select greatest(
                    case when _gw_due_crons.since is not null then _gw_due_crons.since
                         when k.identifier is null then handled
                         else greatest(_gw_due_crons.now - extract(epoch from e.fill) * interval '1 second',
                                       k.known_since) - interval '1 microsecond' end,
                    e.active_since - interval '1 microsecond',
                    k.last_execution) as since) as w
   cross join lateral (
           -- The usual case: a single minute.
           select handled as run
            where w.since between handled - interval '1 minute' and handled - interval '1 microsecond'
              and {{.schema}}._gw_cron_is_due(p.parsed, handled, e.time_zone)
           union all
           select m.run
             from {{.schema}}._gw_cron_runs(p.parsed, w.since, handled, e.time_zone) as m (run)
            where w.since < handled - interval '1 minute') as d;
end;
$$;

comment on function {{.schema}}._gw_due_crons({{.schema}}._gw_schedules[], timestamptz, timestamptz, timestamptz) is
  'Internal: returns the due runs of recurring jobs by the number of the entry.';
