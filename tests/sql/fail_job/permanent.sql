-- A worker can fail a job permanently although attempts are left.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'key');
select ok(exists (select from fail_job('worker', id, 'hopeless', lease, permanent => true)),
  'fail_job() with permanent returns the job') from get_job('worker');
select results_eq(
  $$ select key, attempts, max_attempts, last_error, is_available from _private_jobs $$,
  $$ values ('key', 25::smallint, 25::smallint, 'hopeless', false) $$,
  'a permanently failed job has used up all its attempts');
select is_empty($$ select id from get_job('worker', now => 'infinity') $$,
  'a permanently failed job is not claimed again');

select * from finish();
rollback;
