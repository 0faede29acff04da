-- If the role may not read the queue, doctor() does not report that all is well.
begin;
select plan(2);
set local search_path = graphile_worker, public;

create role gw_test_watcher;
grant usage on schema graphile_worker to gw_test_watcher;
set local role gw_test_watcher;
select results_eq(
  $$ select severity, finding, subject from doctor() $$,
  $$ values ('warning', 'hidden queue', 'role gw_test_watcher') $$,
  'doctor() reports that the role can read nothing');

create temp table remedy as select split_part(remedy, ' with: ', 2) as command from doctor();
grant select on remedy to public;
reset role;
do $$ begin execute (select command from remedy); end $$;
select is_empty($$ select * from doctor() $$, 'the remedy lets the role read the queue, which ends the finding');

select * from finish();
rollback;
