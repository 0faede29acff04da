-- A worker gets jobs of the given tasks, or of all tasks without that argument, with and without a queue.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('a'), add_job('b', queue_name => 'queue'), add_job('c'), add_job('d', queue_name => 'queue');

select is_empty($$ select id from get_job('worker', '{}') $$, 'no task, no job');
select is_empty($$ select id from get_job('worker', '{x,y}') $$, 'unknown tasks, no job');
select is_empty($$ select identifier from _private_tasks where identifier in ('x', 'y') $$, 'and they stay unknown');
select is((select task_identifier from get_job('worker', '{x,c}')), 'c', 'a job of a given task, although others come first');
create temp table queued as select * from get_job('worker', '{d}');
select is((select task_identifier from queued), 'd', 'in a queue, jobs of other tasks are passed by');
select return_job('worker', id) from queued;
select results_eq(
  $$ select task_identifier from get_job_batch('worker', batch_size => 9) $$,
  array['a', 'b'],
  'null means all tasks');
select is_empty($$ select id from get_job('worker', '{d}') $$, 'a busy queue is busy for all tasks');

select * from finish();
rollback;
