-- \d+ and \df+ are the manual: all objects that a user can see have a comment.
begin;
select plan(4);
set local search_path = graphile_worker, public;

-- tern makes the version table and its column; they are not ours to describe.
select is_empty(
  $$ select c.relname
       from pg_class as c
      where c.relnamespace = 'graphile_worker'::regnamespace
        and c.relkind in ('r', 'p', 'v', 'c')
        and c.relname <> '_gw_schema_version'
        and coalesce(obj_description(c.oid, 'pg_class'), (select obj_description(c.reltype, 'pg_type'))) is null $$,
  'every table, view and type has a comment');
select is_empty(
  $$ select c.relname, a.attname
       from pg_class as c
       join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'graphile_worker'::regnamespace
        and c.relkind in ('r', 'p', 'v')
        and not c.relispartition
        and c.relname <> '_gw_schema_version'
        and col_description(c.oid, a.attnum) is null $$,
  'every column has a comment');
select is_empty(
  $$ select p.oid::regprocedure
       from pg_proc as p
      where p.pronamespace = 'graphile_worker'::regnamespace and obj_description(p.oid, 'pg_proc') is null $$,
  'every function has a comment');
select is_empty(
  $$ select t.tgname
       from pg_trigger as t
       join pg_class as c on c.oid = t.tgrelid
      where c.relnamespace = 'graphile_worker'::regnamespace
        and not t.tgisinternal
        and obj_description(t.oid, 'pg_trigger') is null $$,
  'every trigger has a comment');

select * from finish();
rollback;
