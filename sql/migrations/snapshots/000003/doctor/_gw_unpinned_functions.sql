-- Functions that PostgreSQL calls for the tables of the queue (triggers, policies, CHECK constraints, defaults) and
-- that have no search_path of their own. The functions of the queue have one, pg_catalog and pg_temp, which also
-- applies to the functions that they call: a name without a schema in such a function is not found.
-- statement gives the function the path with which sessions of the queue's owner begin; may_alter: whether this role
-- may run this statement. PostgreSQL's own functions, functions in C, and functions that only a disabled trigger calls
-- are omitted. gw-migrate also runs this query before the queue is installed, so it must not call other functions of
-- the queue.
create or replace function {{.schema}}._gw_unpinned_functions()
  returns table (caller text, function text, may_alter boolean, statement text) language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  with queue as (
    select c.relnamespace, c.relowner
      from pg_catalog.pg_class as c
     where c.oid = pg_catalog.to_regclass('{{ replace "'" "''" .schema }}._private_jobs')
  ), path as (
    select coalesce((select nullif(substr(u.setting, length('search_path=') + 1), '""')
                       from pg_catalog.pg_db_role_setting as s
                      cross join unnest(s.setconfig) as u (setting)
                      where s.setrole in (0, queue.relowner)
                        and s.setdatabase in (0, (select d.oid
                                                    from pg_catalog.pg_database as d
                                                   where d.datname = current_database()))
                        and starts_with(u.setting, 'search_path=')
                      order by s.setrole = 0, s.setdatabase = 0
                      limit 1),
                    '"$user", public') as setting
      from queue
  ), caller as (
    select 'pg_catalog.pg_trigger'::regclass as class, t.oid, t.tgrelid as table_id
      from pg_catalog.pg_trigger as t
     where not t.tgisinternal and t.tgenabled <> 'D'
    union all
    select 'pg_catalog.pg_policy'::regclass, p.oid, p.polrelid from pg_catalog.pg_policy as p
    union all
    select 'pg_catalog.pg_constraint'::regclass, k.oid, k.conrelid from pg_catalog.pg_constraint as k
    union all
    select 'pg_catalog.pg_attrdef'::regclass, a.oid, a.adrelid from pg_catalog.pg_attrdef as a
  )
  select pg_describe_object(o.class, o.oid, 0),
         p.oid::regprocedure::text,
         pg_has_role(p.proowner, 'usage'),
         format('alter %s %s set search_path = %s',
                case p.prokind when 'p' then 'procedure' else 'function' end, p.oid::regprocedure, path.setting)
    from queue
    join pg_catalog.pg_class as c on c.relnamespace = queue.relnamespace
    join caller as o on o.table_id = c.oid
    join pg_catalog.pg_depend as d
      on d.classid = o.class and d.objid = o.oid and d.refclassid = 'pg_catalog.pg_proc'::regclass
    join pg_catalog.pg_proc as p on p.oid = d.refobjid
    join pg_catalog.pg_language as l on l.oid = p.prolang
   cross join path
   where l.lanname not in ('c', 'internal')
     and not exists (select from unnest(p.proconfig) as u (setting) where starts_with(u.setting, 'search_path='))
   order by 1, 2
$$;

comment on function {{.schema}}._gw_unpinned_functions() is 'Internal: functions that PostgreSQL calls for the tables of the queue (triggers, policies, CHECK constraints, defaults) and that have no search_path of their own.';
