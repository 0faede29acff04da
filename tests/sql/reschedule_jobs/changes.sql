-- reschedule_jobs changes the given values of jobs that are not running, and skips running ones.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('task', job_key => k, max_attempts => 3, priority => 1, run_at => now() + interval '1 hour')
  from unnest(array['waiting', 'failed', 'running', 'other']) as k;
update _private_jobs set attempts = max_attempts, last_error = 'gave up' where key = 'failed';
update _private_jobs set attempts = 1, locked_at = now() - interval '3 hours 59 minutes', locked_by = 'worker'
 where key = 'running';
update _private_jobs set updated_at = now() - interval '1 day';

create temp table chosen as select array_agg(id) as ids from _private_jobs where key <> 'other';

select set_eq(
  $$ select r.key, r.run_at, r.priority, r.attempts, r.max_attempts, r.last_error, r.updated_at
       from chosen as c cross join reschedule_jobs(c.ids, now() - interval '1 hour', 2, 1, 5) as r $$,
  $$ values ('waiting', now() - interval '1 hour', 2::smallint, 1::smallint, 5::smallint, null, now()),
            ('failed',  now() - interval '1 hour', 2::smallint, 1::smallint, 5::smallint, 'gave up', now()) $$,
  'all four values of jobs that are not running are changed');
select set_eq(
  $$ select r.key, r.run_at, r.priority, r.attempts, r.max_attempts
       from chosen as c cross join reschedule_jobs(c.ids, attempts => 0, priority => 0) as r $$,
  $$ values ('waiting', now() - interval '1 hour', 0::smallint, 0::smallint, 5::smallint),
            ('failed',  now() - interval '1 hour', 0::smallint, 0::smallint, 5::smallint) $$,
  'a value of zero is set; omitted values do not change');
select set_eq(
  $$ select key, run_at, priority, attempts from _private_jobs where key in ('running', 'other') $$,
  $$ values ('running', now() + interval '1 hour', 1::smallint, 1::smallint),
            ('other',   now() + interval '1 hour', 1::smallint, 0::smallint) $$,
  'running jobs and other jobs stay unchanged');
select set_eq(
  $$ select key from get_job_batch('worker', batch_size => 9) $$,
  array['waiting', 'failed'],
  'the rescheduled job that had failed permanently can be claimed');

update _private_jobs set locked_at = now() - interval '4 hours 1 second' where key = 'running';
select is(
  (select key from chosen as c cross join reschedule_jobs(c.ids, run_at => now()) as r where r.key = 'running'),
  'running',
  'a job that was locked for more than four hours can be rescheduled');
select is_empty($$ select id from reschedule_jobs('{}', priority => 1) $$, 'an empty array changes no job');

select * from finish();
rollback;
