-- A worker gets jobs of the given tasks, or of all tasks without that argument, with and without a queue.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('a'), add_job('b', queue_name => 'queue'), add_job('c'), add_job('d', queue_name => 'queue');

select is_empty($$ select id from get_job('worker', '{}') $$, 'no job is claimed with an empty list of tasks');
select is_empty($$ select id from get_job('worker', '{x,y}') $$, 'no job of an unknown task is claimed');
select is_empty($$ select identifier from _private_tasks where identifier in ('x', 'y') $$,
  'a claim of unknown tasks stores no names');
select is((select task_identifier from get_job('worker', '{x,c}')), 'c',
  'a job of a given task is claimed although others come first');
create temp table queued as select * from get_job('worker', '{d}');
select is((select task_identifier from queued), 'd',
  'a job of a given task in a queue is claimed although others come first');
select return_job('worker', id) from queued;
select results_eq(
  $$ select task_identifier from get_job_batch('worker', batch_size => 9) $$,
  array['a', 'b'],
  'without a list of tasks jobs of all tasks are claimed');
select is_empty($$ select id from get_job('worker', '{d}') $$,
  'no job is claimed from a busy queue, whatever the task');

select * from finish();
rollback;
