-- An unknown clean-up task is refused before anything is deleted.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task');
update _private_jobs set attempts = max_attempts;

select throws_ok(
  $$ select cleanup('{DELETE_PERMAFAILED_JOBS,VACUUM,NULL}') $$,
  'GWCTN',
  'Invalid cleanup tasks; allowed values: ''DELETE_PERMAFAILED_JOBS'', ''GC_TASK_IDENTIFIERS'', ''GC_JOB_QUEUES''; '
  'you provided: ''DELETE_PERMAFAILED_JOBS'', ''VACUUM'', null.',
  'the message has the allowed clean-up tasks and the given ones');
select throws_ok($$ select cleanup('{delete_permafailed_jobs}') $$, 'GWCTN', null,
  'the names of clean-up tasks are in upper case');
select isnt_empty($$ select id from _private_jobs $$, 'a refused call deletes no failed job');

select * from finish();
rollback;
