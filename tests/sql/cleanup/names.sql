-- Names of tasks and queues that no job uses are deleted, except names to keep and locked queues.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('used', queue_name => 'used'),
       add_job('unused', queue_name => 'unused', job_key => 'gone'),
       add_job('kept', queue_name => 'locked', job_key => 'gone too');
select remove_job('gone'), remove_job('gone too');
update _private_job_queues set locked_at = now(), locked_by = 'worker' where queue_name = 'locked';

select results_eq(
  $$ select task, rows from cleanup('{GC_JOB_QUEUES,GC_TASK_IDENTIFIERS}', '{kept}') $$,
  $$ values ('GC_TASK_IDENTIFIERS', 1::bigint), ('GC_JOB_QUEUES', 1::bigint) $$,
  'cleanup() returns one row for each clean-up task in the order in which they ran');
select set_eq($$ select identifier from _private_tasks $$, array['used', 'kept'], 'used and kept task names stay');
select set_eq($$ select queue_name from _private_job_queues $$, array['used', 'locked'], 'used and locked queues stay');
select is((select task_identifier from get_job('worker')), 'used', 'the job whose names are used can be claimed');

select add_job('unused', queue_name => 'unused');
select results_eq(
  $$ select task_identifier, queue_name from get_job('worker') $$,
  $$ values ('unused', 'unused') $$,
  'a deleted name is inserted again by the next job that uses it');
select results_eq(
  $$ select task, rows from cleanup('{GC_TASK_IDENTIFIERS}', null, true) $$,
  $$ values ('GC_TASK_IDENTIFIERS', 1::bigint) $$,
  'null for the names to keep keeps no name');

select * from finish();
rollback;
