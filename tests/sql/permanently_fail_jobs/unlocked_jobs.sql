-- permanently_fail_jobs uses up the attempts of jobs that are not running, and skips running ones.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('task', job_key => k, max_attempts => 3) from unnest(array['waiting', 'retrying', 'running', 'other']) as k;
update _private_jobs set attempts = 1, last_error = 'no luck' where key = 'retrying';
update _private_jobs set attempts = 1, locked_at = now() - interval '3 hours 59 minutes', locked_by = 'worker'
 where key = 'running';
update _private_jobs set updated_at = now() - interval '1 day';

select set_eq(
  $$ select key, attempts, last_error, is_available, updated_at
       from permanently_fail_jobs(array(select id from _private_jobs where key <> 'other'), 'not wanted') $$,
  $$ values ('waiting',  3::smallint, 'not wanted', false, now()),
            ('retrying', 3::smallint, 'not wanted', false, now()) $$,
  'waiting jobs are returned with the reason and without attempts left');
select set_eq(
  $$ select key, attempts, last_error from _private_jobs where key in ('running', 'other') $$,
  $$ values ('running', 1::smallint, null), ('other', 0::smallint, null) $$,
  'running jobs and other jobs stay unchanged');
select is(
  (select last_error from permanently_fail_jobs(array(select id from _private_jobs where key = 'other'))),
  'Manually marked as failed',
  'the reason has a default');
select is_empty($$ select id from get_job_batch('worker', batch_size => 9) $$, 'no failed job can be claimed');
select is_empty($$ select id from permanently_fail_jobs('{}') $$, 'an empty array fails no job');

select * from finish();
rollback;
