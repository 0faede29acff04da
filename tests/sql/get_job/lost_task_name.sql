-- A job whose task name was deleted by hand can still be claimed, by claims of all tasks, without a name.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('task', '{"n": 1}');
delete from _private_tasks;

select is_empty($$ select id from get_job('worker', array['task']) $$,
  'a claim of named tasks does not take a job without a task name');
select results_eq(
  $$ select task_identifier, payload ->> 'n' from get_job('worker') $$,
  $$ values (null::text, '1') $$,
  'a claim of all tasks takes a job without a task name');

select * from finish();
rollback;
