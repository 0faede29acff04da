-- A job that was locked for more than four hours is failed although it is locked; if its worker returns it later, by
-- our functions or Node's, it stays failed.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'ours'), add_job('task', job_key => 'node', max_attempts => 32767);
create temp table claimed as select * from get_job_batch('worker', batch_size => 2);
update _private_jobs set locked_at = now() - interval '5 hours';

select set_eq(
  $$ select key, attempts - max_attempts, locked_by, is_available
       from permanently_fail_jobs(array(select id from claimed)) $$,
  $$ values ('ours', 1, 'worker', false), ('node', 1, 'worker', false) $$,
  'a failed job that is locked keeps its lock and has one attempt more than its maximum');

select ok(exists (select from return_job('worker', id)),
  'the worker of a failed job can return it') from claimed where key = 'ours';
update _private_jobs set attempts = greatest(0, attempts - 1), locked_at = null, locked_by = null where key = 'node';
select is_empty($$ select id from get_job_batch('worker', batch_size => 2) $$,
  'a failed job that was returned cannot be claimed again');
select is(
  (select count(*) from _private_jobs where attempts = max_attempts and locked_at is null),
  2::bigint,
  'the failed jobs that were returned count as permanently failed');

select * from finish();
rollback;
