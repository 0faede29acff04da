-- Fails if a function of the schema graphile_worker could find objects of other schemas by unqualified names. A function must
-- either set its search_path, with the temporary schema last, or qualify every name. To check that, the script creates a
-- schema with an object of the same name for every function, operator, type and relation of pg_catalog. A function of one SQL
-- statement, or in PL/pgSQL of one expression, is created again with this schema first in the search_path, and must not depend
-- on any of these objects. Of the other functions in PL/pgSQL, plpgsql_check lists what they use with that search_path; it does
-- not list types. Requires PostgreSQL 14 or later, in which functions depend on what they call. The objects remain in the
-- database.

create schema namesakes;

-- The result type of such a function does not matter. Shell types have no arrays.
do $$
declare
  command text;
begin
  for command in
    select format('create type namesakes.%I', t.typname)
      from pg_type as t
     where t.typnamespace = 'pg_catalog'::regnamespace and t.typrelid = 0 and t.typcategory <> 'A'
    union all
    select format('create table namesakes.%I ()', c.relname)
      from pg_class as c
     where c.relnamespace = 'pg_catalog'::regnamespace and c.relkind in ('r', 'v')
    union all
    select format('create function namesakes.%I(%s) returns integer language internal as ''int4pl''', p.proname,
                  (select string_agg(case when p.provariadic <> 0 and a.number = p.pronargs then 'variadic ' else '' end
                                     || format_type(a.type, null), ', ' order by a.number)
                     from unnest(p.proargtypes) with ordinality as a (type, number)))
      from pg_proc as p
     where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind <> 'p'
    union all
    select format('create function namesakes."operator %s"(%s) returns boolean language internal as ''int4eq''; '
                  'create operator namesakes.%1$s (%3$s, function = namesakes."operator %1$s")', o.oprname, a.types, a.arguments)
      from pg_operator as o
     cross join lateral (
            select string_agg(format_type(a.type, null), ', ' order by a.number) as types,
                   string_agg(a.name || ' = ' || format_type(a.type, null), ', ' order by a.number) as arguments
              from (values (1, 'leftarg', o.oprleft), (2, 'rightarg', o.oprright)) as a (number, name, type)
             where a.type <> 0) as a
     where o.oprnamespace = 'pg_catalog'::regnamespace
  loop
    execute command;
  end loop;
end
$$;

create temporary table slips (function text, name text);

do $$
declare
  loose record;
  slips text[];
begin
  for loose in
    select p.oid, p.oid::regprocedure::text as function,
           regexp_replace(p.prosrc, '^\s*begin\s+return (.*);\s*end;\s*$', 'select \1') as body,
           l.lanname = 'plpgsql' and p.prosrc !~ '^\s*begin\s+return ' as is_long
      from pg_proc as p
      join pg_language as l on l.oid = p.prolang
     where p.pronamespace = 'graphile_worker'::regnamespace
       and p.prokind <> 'p'
       and ('search_path=pg_catalog, pg_temp' = any (p.proconfig)) is not true
  loop
    if loose.is_long then
      perform set_config('search_path', 'namesakes, pg_catalog', true);
      slips := array(
        select pg_catalog.concat_ws(' ', d.type, d.schema operator(pg_catalog.||) '.' operator(pg_catalog.||) d.name, d.params)
          from public.plpgsql_show_dependency_tb(loose.oid) as d
         where d.schema operator(pg_catalog.=) 'namesakes');
      perform pg_catalog.set_config('search_path', 'pg_catalog', true);
      insert into slips select loose.function, s.name from unnest(slips) as s (name);
      continue;
    end if;
    begin
      -- With this path, types are printed qualified as well.
      perform set_config('search_path', 'namesakes, pg_catalog', true);
      execute pg_catalog.format('create function namesakes.parsed(%s) returns %s language sql begin atomic %s; end',
        pg_catalog.pg_get_function_arguments(loose.oid), pg_catalog.pg_get_function_result(loose.oid), loose.body);
      perform pg_catalog.set_config('search_path', 'pg_catalog', true);
      slips := array(
        select pg_describe_object(d.refclassid, d.refobjid, 0)
          from pg_proc as p
          join pg_depend as d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'n'
         where p.pronamespace = 'namesakes'::regnamespace and p.proname = 'parsed'
           and pg_describe_object(d.refclassid, d.refobjid, 0) ~ 'namesakes[.]');
      raise sqlstate 'GWDUN'; -- rolls the creation of the function back
    exception when others then
      if sqlstate <> 'GWDUN' then
        slips := array[sqlerrm];
      end if;
    end;
    insert into slips select loose.function, s.name from unnest(slips) as s (name);
  end loop;
end
$$;

-- A procedure that commits can have no SET clause: each of its transactions begins by setting the path.
insert into slips
select p.oid::regprocedure::text, 'a transaction that does not begin with set local search_path = pg_catalog, pg_temp'
  from pg_proc as p
 where p.pronamespace = 'graphile_worker'::regnamespace
   and p.prokind = 'p'
   and p.prosrc ~ '(commit|rollback|\mbegin);?\s+(?!\s*set local search_path = pg_catalog, pg_temp;)';

select s.function, s.name as "is not qualified" from slips as s order by 1, 2;

do $$
begin
  if exists (select from slips) then
    raise exception 'Functions without a search_path of their own have names that are not qualified, listed above.';
  end if;
end
$$;
