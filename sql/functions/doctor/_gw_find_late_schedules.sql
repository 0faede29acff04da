-- Schedules with a run that was due minutes ago and that a worker should have added: it is within the fill, or was due
-- while a registered worker was alive, or no such worker is alive.
create or replace function {{.schema}}._gw_find_late_schedules(patience interval default '5 minutes')
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  alive_since constant timestamptz := (
    select min(w.beating_since) from {{.schema}}._gw_workers as w where w.last_seen_at >= now() - patience);
begin
  return query
  select 'warning',
         'late schedule',
         'schedule ' || l.identifier,
         format('Its run of %s has not been added for %s, nor any later one. ', l.missed, {{.schema}}._gw_age(l.missed))
         || case when alive_since is null then 'No registered worker was seen in the last minutes; Node''s workers run no schedules.'
                 else 'Workers add about a thousand missed runs a call, oldest first; if none is added, the call fails, or no worker runs cron.' end,
         case when alive_since is null then 'Start a worker, such as gw-run.'
              else 'Read in the log of the workers whether they run cron, and why it fails.' end
         || format(e' To skip what was missed, resume the schedule from now on, with:\nselect %s.cron_resume(%L) where (select %1$s.cron_pause(%2$L));',
                   {{.schema}}._gw_namespace(), l.identifier)
    from (select b.identifier,
                 {{.schema}}._gw_cron_next(
                   b.pattern,
                   greatest(b.behind, case when alive_since is not null then least(now() - b.fill, alive_since) end),
                   b.time_zone) as missed
            from (select s.identifier, s.pattern, s.time_zone, s.fill,
                         greatest(s.active_since, s.last_run, k.last_execution) as behind
                    from {{.schema}}._gw_schedules as s
                    left join {{.schema}}._private_known_crontabs as k on k.identifier = s.identifier
                   where not s.paused and {{.schema}}._gw_zone_exists(s.time_zone)
                   order by behind
                   limit 1000) as b
           where b.behind < now() - patience
           offset 0) as l
   where l.missed < now() - patience
   order by l.missed
   limit 10;
end;
$$;
