-- Returns the workers of Graphile Worker that can be seen: those that hold jobs or queues, by the names that they make
-- for themselves, and sessions that listen as they do, in this database. Of a jobs table with more than pages pages it
-- reads a sample. A worker that holds nothing is seen only if it listens and this role may see the statements of its
-- session, which needs pg_read_all_stats if it is a session of another role. Channels belong to the database: if
-- another schema has a queue, too, such a session may be listening for that one, and is left out.
create or replace function {{.schema}}._gw_node_workers(pages bigint default 10000)
  returns table (worker text, detail text) language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  jobs_seen real := {{.schema}}._gw_share_seen('_private_jobs', pages);
begin
  return query
  select h.owner, format('holds jobs or queues, the latest since %s', max(h.locked_at))
    from (select j.locked_by as owner, j.locked_at
            from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
           where j.locked_at is not null
          union all
          select q.locked_by, q.locked_at
            from {{.schema}}._private_job_queues as q
           where q.locked_at is not null) as h
   where h.owner ~ '^(pool|otpool|worker)-[0-9a-f]{18}$'
     and not exists (select from {{.schema}}._gw_workers as w where w.id = h.owner)
   group by h.owner
   order by h.owner;

  if not exists (select
                   from pg_class as c
                  where c.relname = '_private_jobs' and c.relkind = 'r'
                    and c.relnamespace <> {{.schema}}._gw_namespace()) then
    return query
    select 'process ' || a.pid,
           format('listens for jobs (role %s, application %L)', coalesce(a.usename, 'unknown'), a.application_name)
      from pg_stat_activity as a
     where a.datname = current_database()
       and a.query like 'LISTEN "jobs:insert"; LISTEN "worker:migrate"%'
     order by a.pid;
  end if;
end;
$$;
