-- Our views do not depend on tables or views of Graphile Worker, because its migrations could not change or drop these then.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select c.relname from pg_class as c
      where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'v' order by 1 $$,
  $$ values ('cron_schedules'::name), ('jobs'), ('recurring_jobs') $$,
  'the schema has these three views');
select is_empty(
  $$ select r.ev_class::regclass, d.refobjid::regclass
       from pg_depend as d
       join pg_rewrite as r on r.oid = d.objid
       join pg_class as v on v.oid = r.ev_class and v.relname in ('cron_schedules', 'recurring_jobs')
       join pg_class as c on c.oid = d.refobjid
      where d.classid = 'pg_rewrite'::regclass
        and d.refclassid = 'pg_class'::regclass
        and c.oid <> v.oid
        and c.relname not like '\_gw\_%' $$,
  'the views of the project depend on its own tables and views only');

select * from finish();
rollback;
