-- Runs plpgsql_check over every PL/pgSQL function of the schema graphile_worker: prints what it finds, then fails if that
-- was anything. A trigger function is checked for each table that it serves, and fails if it serves none. No performance
-- warnings: they would have a function STABLE that reads `for update`, which only VOLATILE may.

create extension plpgsql_check;

create temporary table findings as
select
  f.oid::regprocedure as function,
  t.tgrelid::regclass as relation,
  c.lineno,
  c.level,
  c.sqlstate,
  c.message,
  c.query
  from pg_proc f
  join pg_language l on l.oid = f.prolang and l.lanname = 'plpgsql'
  left join (select distinct g.tgfoid, g.tgrelid, g.tgoldtable, g.tgnewtable from pg_trigger g) t on t.tgfoid = f.oid
 cross join lateral plpgsql_check_function_tb(
    f.oid,
    relid             => coalesce(t.tgrelid, 0),
    oldtable          => t.tgoldtable,
    newtable          => t.tgnewtable,
    fatal_errors      => false,
    extra_warnings    => true,
    security_warnings => true
  ) c
 where f.pronamespace = 'graphile_worker'::regnamespace;

select * from findings f order by f.function::text, f.lineno;

do $$
declare
  found_count bigint := (select count(*) from findings);
begin
  if found_count > 0 then
    raise exception 'plpgsql_check: % finding(s), listed above', found_count;
  end if;
end
$$;
