-- Sessions that hold the name locks exclusively, as cleanup() does for a short time. Any role may take advisory locks.
-- Producers do not wait for these locks, but adding a job costs more while they are taken.
create or replace function {{.schema}}._gw_find_held_names()
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'held names',
         'session ' || l.pid,
         format('Role %s, application %s, has locked %s of the 128 advisory locks that producers take on names. Until '
                'they are released, adding a job costs more, and cleanup() cannot collect these names.',
                coalesce(a.usename, 'unknown'), coalesce(nullif(a.application_name, ''), 'unnamed'), count(*)),
         e'End the session with:\nselect pg_terminate_backend(' || l.pid || ');'
    from pg_locks as l
    left join pg_stat_activity as a on a.pid = l.pid
   where l.locktype = 'advisory'
     and l.database = (select d.oid from pg_database as d where d.datname = current_database())
     and l.classid = 7239152 and l.objid between 0 and 127 and l.objsubid = 1
     and l.mode = 'ExclusiveLock' and l.granted
     and coalesce(a.query_start < now() - interval '1 minute', true) -- null: hidden, or no such session
   group by l.pid, a.usename, a.application_name
   order by count(*) desc, l.pid
   limit 10
$$;

comment on function {{.schema}}._gw_find_held_names() is 'Internal: sessions that hold the name locks exclusively, as cleanup() does for a short time.';
