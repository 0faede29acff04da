-- Tables with many dead rows where autovacuum is off or has not run, by PostgreSQL's statistics, which lag a little.
-- Many means more than least_dead and more than twice the threshold of autovacuum. A burst of jobs makes as many dead
-- rows before autovacuum can run, so nothing is reported within patience after the last vacuum, the start of the
-- server, or the installation.
create or replace function {{.schema}}._gw_find_dead_rows(
  least_dead bigint default 10000, patience interval default '15 minutes')
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  with tables as (
    select c.oid, c.relname, pg_stat_get_dead_tuples(c.oid) as dead, pg_stat_get_live_tuples(c.oid) as live,
           greatest(pg_stat_get_last_vacuum_time(c.oid), pg_stat_get_last_autovacuum_time(c.oid)) as vacuumed,
           coalesce((option.of ->> 'autovacuum_enabled')::boolean, true) as enabled,
           coalesce((option.of ->> 'autovacuum_vacuum_threshold')::bigint,
                    current_setting('autovacuum_vacuum_threshold')::bigint) as threshold,
           coalesce((option.of ->> 'autovacuum_vacuum_scale_factor')::double precision,
                    current_setting('autovacuum_vacuum_scale_factor')::double precision) as scale_factor
      from pg_class as c
     cross join lateral (
            select jsonb_object_agg(o.option_name, o.option_value)
              from pg_options_to_table(c.reloptions) as o) as option (of)
     where c.relnamespace = {{.schema}}._gw_namespace() and c.relkind = 'r'
  ), judged as (
    select t.relname, t.dead, t.live, t.vacuumed, t.enabled,
           current_setting('autovacuum')::boolean and current_setting('track_counts')::boolean as running
      from tables as t
     where t.dead > greatest(least_dead, 2 * (t.threshold + t.scale_factor * t.live))
  )
  select 'warning',
         'dead rows',
         'table ' || j.relname,
         format('It has %s dead rows and %s live ones; %s, and it was last vacuumed %s. Each claim skips the dead '
                'rows, and the table grows.', j.dead, j.live,
                case when not j.running then 'autovacuum is off on this server'
                     when not j.enabled then 'autovacuum is off for it'
                     else 'autovacuum has not run, or was interrupted' end,
                case when j.vacuumed is null then 'never' else {{.schema}}._gw_age(j.vacuumed) || ' ago' end),
         case when not j.running then 'Set autovacuum and track_counts to on in postgresql.conf, and until then'
              when not j.enabled then format('Enable autovacuum by alter table %s.%I reset (autovacuum_enabled), and',
                                             {{.schema}}._gw_namespace(), j.relname)
              else 'If this recurs, lower autovacuum_naptime or raise autovacuum_max_workers;' end
           || format(e' clean up with:\nvacuum (analyze) %s.%I;', {{.schema}}._gw_namespace(), j.relname)
    from judged as j
   where not j.running
      or not j.enabled
      or greatest(j.vacuumed, pg_postmaster_start_time(),
                  (select max(m.ts) from {{.schema}}.migrations as m)) < now() - patience
   order by j.dead desc
$$;
