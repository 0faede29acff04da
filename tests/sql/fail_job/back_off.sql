-- A failed job waits for its back-off, counted from now or from its run_at, whichever is later, and keeps the error.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('task', run_at => now() - interval '1 hour', job_key => 'key', max_attempts => 25);
create temp table claimed as select * from get_job('worker');
select results_eq(
  $$ select f.state, f.run_at, f.attempts, f.max_attempts from claimed as c cross join fail_job('worker', c.id, 'no luck', c.lease) as f $$,
  $$ values ('scheduled', now() + interval '2.718282 seconds', 1::smallint, 25::smallint) $$,
  'a job that fails for the first time is scheduled');
select results_eq(
  $$ select attempts, last_error, run_at, locked_at, locked_by, key from _private_jobs $$,
  $$ values (1::smallint, 'no luck', now() + interval '2.718282 seconds', null::timestamptz, null::text, 'key') $$,
  'the back-off after the first attempt is e seconds from now');
select ok(not exists (select from fail_job('worker', id, 'again', lease)),
  'a failed job cannot fail again by the same claim') from claimed;

update _private_jobs set attempts = 4, run_at = now();
select fail_job('worker', id, 'still no luck') from get_job('worker');
select results_eq(
  $$ select attempts, last_error, run_at from _private_jobs $$,
  $$ values (5::smallint, 'still no luck', now() + interval '148.413159 seconds') $$,
  'the back-off after the fifth attempt is longer');

-- A job that was claimed ahead of its time.
update _private_jobs set attempts = 0, run_at = now() + interval '1 hour';
select fail_job('worker', id, 'too early') from get_job('worker', now => now() + interval '1 hour');
select is((select run_at from _private_jobs), now() + interval '1 hour 2.718282 seconds',
  'the back-off counts from a run_at in the future');

update _private_jobs set attempts = 24, run_at = now();
select fail_job('worker', id, null) from get_job('worker');
select results_eq(
  $$ select attempts, is_available, last_error from _private_jobs $$,
  $$ values (25::smallint, false, 'The worker gave no reason.') $$,
  'a job is permanently failed after its last attempt, and always has an error message');
select is((select run_at from _private_jobs), now() + interval '22026.465795 seconds',
  'the run_at of a permanently failed job is the time at which it would have run');

select * from finish();
rollback;
