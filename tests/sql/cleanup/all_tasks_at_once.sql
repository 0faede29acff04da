-- Failed jobs are deleted before the names, so that one call also deletes the names that only they used.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => 'queue');
update _private_jobs set attempts = max_attempts;

select results_eq(
  $$ select task, rows from cleanup('{GC_JOB_QUEUES,GC_TASK_IDENTIFIERS,DELETE_PERMAFAILED_JOBS}') $$,
  $$ values ('DELETE_PERMAFAILED_JOBS', 1::bigint), ('GC_TASK_IDENTIFIERS', 1::bigint), ('GC_JOB_QUEUES', 1::bigint) $$,
  'failed jobs are deleted before names, whatever the order of the clean-up tasks');
select is_empty($$ select * from cleanup('{}') $$, 'an empty array of clean-up tasks deletes nothing');

select * from finish();
rollback;
