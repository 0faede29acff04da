-- A returned job is as it was before its claim: the attempt does not count, everything else is unchanged.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', '{"n": 1}', run_at => now() - interval '1 hour', max_attempts => 1, job_key => 'key');
update _private_jobs set last_error = 'no luck';
create temp table waiting as select * from _private_jobs;
create temp table claimed as select * from get_job('worker');

select results_eq(
  $$ select r.* from claimed as c cross join return_job('worker', c.id, c.lease) as r $$,
  $$ select id, 'ready', run_at, attempts, max_attempts from waiting $$,
  'return_job() returns the job once, as ready');
select results_eq($$ select j::text from _private_jobs as j $$, $$ select w::text from waiting as w $$,
  'a returned job is as it was before its claim');
select ok(not exists (select from return_job('worker', id, lease)),
  'a job cannot be returned twice by the same claim') from claimed;

select return_job('worker', id, lease, run_in => interval '10 minutes') from get_job('worker');
select is((select run_at from _private_jobs), now() + interval '10 minutes', 'run_in puts a returned job off');

-- Raw writes may set attempts while the job runs; less than none there is not.
update _private_jobs set attempts = 0, locked_at = now(), locked_by = 'worker';
select return_job('worker', id) from claimed;
select is((select attempts from _private_jobs), 0::smallint, 'a returned job has no less than zero attempts');

select * from finish();
rollback;
