-- Runs plpgsql_check on every PL/pgSQL function of the schema graphile_worker: prints its findings, then fails if there are any.
-- A trigger function is checked for each of its tables, and fails if it has none. Performance warnings are off: they recommend
-- STABLE for functions that read `for update`, which only VOLATILE ones may do.

create extension plpgsql_check;

-- Creates the trigger on the jobs, which a database has only if it needs it.
select graphile_worker._gw_watch_ends();

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
