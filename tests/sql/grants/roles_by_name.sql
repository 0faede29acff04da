-- The examples of docs/privileges.md for roles that are not the owner.
begin;
select plan(5);
create role gw_test_app;
create role gw_test_shop;
create role gw_test_grafana;
select graphile_worker._gw_remember_grants('producer', array['gw_test_app']);
select graphile_worker._gw_remember_grants('producer', array['gw_test_shop'], array['send_mail', 'resize']);
select graphile_worker._gw_remember_grants('monitor', array['gw_test_grafana']);
select graphile_worker._gw_apply_grants();

set local role gw_test_app;
select graphile_worker_api.enqueue('send_mail', '{"to": "me@example.com"}', job_key => 'welcome:1', max_attempts => 5);
reset role;
select is((select count(*) from graphile_worker.jobs where key = 'welcome:1'), 1::bigint,
  'a producer can enqueue jobs');

set local role gw_test_shop;
select graphile_worker_api.enqueue_send_mail('{"to": "me@example.com"}');
select graphile_worker_api.enqueue_resize('{"image": 7}', run_at => now() + interval '1 minute');
reset role;
select results_eq(
  $$ select task_identifier, count(*) from graphile_worker.jobs group by 1 order by 1 $$,
  $$ values ('resize', 1::bigint), ('send_mail', 2) $$,
  'a producer that is limited to tasks can enqueue jobs of these');

set local role gw_test_grafana;
create temporary table seen on commit drop as
select j.task_identifier, j.state, count(*)
  from graphile_worker_api.jobs as j
 group by 1, 2
 order by 1, 2;
reset role;
select results_eq(
  $$ select task_identifier, state, count from seen order by 1 $$,
  $$ values ('resize', 'scheduled', 1::bigint), ('send_mail', 'ready', 2) $$,
  'a monitor sees the number of jobs in each state');

set local role gw_test_grafana;
select throws_ok('select * from graphile_worker.jobs', '42501', null, 'a monitor cannot read the schema of the queue');
select throws_ok('select graphile_worker_api.enqueue(''send_mail'')', '42501', null, 'a monitor cannot enqueue jobs');
reset role;

select * from finish();
rollback;
