-- Node workers cache the ids of task names. While a worker that is not registered holds a job, task names are only
-- deleted by force.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('running'), add_job('unused', job_key => 'gone');
select remove_job('gone');
update _private_jobs set attempts = 1, locked_at = now(), locked_by = 'pool-0123456789';

select throws_ok(
  $$ select cleanup('{GC_TASK_IDENTIFIERS}') $$,
  'GWCFW', 'Worker ''pool-0123456789'' is not registered and holds a job; it may have cached the ids of task names.');
select throws_ok($$ select cleanup('{GC_TASK_IDENTIFIERS}', force => null) $$, 'GWCFW', null,
  'null for force does not delete task names');
select lives_ok($$ select cleanup('{DELETE_PERMAFAILED_JOBS,GC_JOB_QUEUES}') $$,
  'other clean-up tasks are done in spite of foreign workers');
select isnt_empty($$ select id from _private_tasks where identifier = 'unused' $$,
  'the refused clean-up has not deleted the unused name');

select register_worker('pool-0123456789');
select results_eq(
  $$ select rows from cleanup('{GC_TASK_IDENTIFIERS}') $$,
  $$ values (1::bigint) $$,
  'task names are deleted while only registered workers hold jobs');

select add_job('unused', job_key => 'gone');
select remove_job('gone'), deregister_worker('pool-0123456789');
select results_eq(
  $$ select rows from cleanup('{GC_TASK_IDENTIFIERS}', force => true) $$,
  $$ values (1::bigint) $$,
  'force deletes task names in spite of foreign workers');

select * from finish();
rollback;
