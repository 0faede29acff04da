-- Sessions that hold the advisory locks of names exclusively, as cleanup() does for a moment. Any role may take advisory
-- locks; nobody waits for these, but they cost.
create or replace function {{.schema}}._gw_find_held_names()
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'held names',
         'session ' || l.pid,
         format('Role %s, application %s, has locked %s of the 128 advisory locks by which producers hold names. Until they '
                'are free, jobs are added at a higher cost, and cleanup() collects no such name.',
                coalesce(a.usename, 'unknown'), coalesce(nullif(a.application_name, ''), 'unnamed'), count(*)),
         'End the session with: select pg_terminate_backend(' || l.pid || ');'
    from pg_locks as l
    left join pg_stat_activity as a on a.pid = l.pid
   where l.locktype = 'advisory'
     and l.database = (select d.oid from pg_database as d where d.datname = current_database())
     and l.classid = 7239152 and l.objid between 0 and 127 and l.objsubid = 1
     and l.mode = 'ExclusiveLock' and l.granted
     and coalesce(a.query_start < now() - interval '1 minute', true) -- null: another role's, or none
   group by l.pid, a.usename, a.application_name
   order by count(*) desc, l.pid
   limit 10
$$;

comment on function {{.schema}}._gw_find_held_names() is
  'Internal, for doctor(): sessions that hold the advisory locks of names.';
