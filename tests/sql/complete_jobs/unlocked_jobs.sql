-- complete_jobs deletes and returns jobs that are not running, and skips running ones.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select add_job('task', job_key => k) from unnest(array['waiting', 'failed', 'abandoned', 'running', 'other']) as k;
update _private_jobs set attempts = max_attempts where key = 'failed';
update _private_jobs set attempts = 1, locked_at = now() - interval '4 hours 1 second', locked_by = 'gone'
 where key = 'abandoned';
update _private_jobs set attempts = 1, locked_at = now() - interval '3 hours 59 minutes', locked_by = 'worker'
 where key = 'running';

create temp table completed as
select * from complete_jobs(array(select id from _private_jobs where key <> 'other') || 0::bigint || null::bigint);
select set_eq(
  $$ select key from completed $$,
  array['waiting', 'failed', 'abandoned'],
  'complete_jobs() returns jobs that wait, have failed or were locked for more than four hours');
select set_eq(
  $$ select key from _private_jobs $$,
  array['running', 'other'],
  'the returned jobs are deleted; running jobs and other jobs are kept');
select is_empty($$ select id from complete_jobs('{}') $$, 'an empty array completes nothing');
select is_empty($$ select id from complete_jobs(null) $$, 'complete_jobs(null) completes nothing');

select * from finish();
rollback;
