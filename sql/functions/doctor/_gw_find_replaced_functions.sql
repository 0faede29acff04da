-- Functions and triggers that differ from those that the migrations installed. A later migration of Graphile Worker
-- replaces the functions that both have; the queue still works then, but without the guarantees of gw's functions.

-- Returns the functions and triggers of the schema in a form that can be compared: functions by their bodies, triggers
-- by their definitions as PostgreSQL prints them, ignoring case, quotes, parentheses and white space.
-- xmin shows whether this transaction created them: an adopted schema may contain functions of other owners.
create or replace function {{.schema}}._gw_objects()
  returns table (object text, digest text, made_here boolean) language sql stable
  set search_path = pg_catalog, pg_temp set quote_all_identifiers = off
as $$
  select case p.prokind when 'p' then 'procedure ' else 'function ' end || p.oid::regprocedure, md5(p.prosrc),
         p.xmin::text::bigint = txid_current_if_assigned() % (2::bigint ^ 32)::bigint
    from pg_proc as p
   where p.pronamespace = {{.schema}}._gw_namespace()
  union all
  select 'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
         md5(translate(lower(pg_get_triggerdef(t.oid)), e'"() \n', '')
             || case when t.tgenabled in ('O', 'A') then '' else ' disabled' end),
         t.xmin::text::bigint = txid_current_if_assigned() % (2::bigint ^ 32)::bigint
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid
   where c.relnamespace = {{.schema}}._gw_namespace() and not t.tgisinternal
$$;

create or replace function {{.schema}}._gw_find_replaced_functions()
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'replaced function',
         i.object,
         case when o.object is null then 'It is missing.' else 'It is not what gw-migrate installed.' end
           || ' A later Graphile Worker may have migrated the schema, or it was changed by hand; the guarantees of the'
              ' queue may not hold.',
         e'Restore it with:\ngw-migrate repair'
    from {{.schema}}._gw_installed as i
    left join {{.schema}}._gw_objects() as o on o.object = i.object
   where o.digest is distinct from i.digest
  union all
  select 'warning',
         'overloaded function',
         o.object,
         'It has the name of a function of the queue but other arguments, so calls may be ambiguous and fail.',
         format(e'Drop or rename it with:\ndrop %s;', o.object)
    from {{.schema}}._gw_objects() as o
   where o.object like any (array['function %', 'procedure %'])
     and o.object not in (select i.object from {{.schema}}._gw_installed as i)
     and split_part(o.object, '(', 1) in (select split_part(i.object, '(', 1) from {{.schema}}._gw_installed as i)
$$;

comment on function {{.schema}}._gw_find_replaced_functions() is
  'Internal, for doctor(): functions and triggers that differ from those that the migrations installed.';
