-- A job that is not running is deleted and returned, in any state.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('task', '{"n": 1}', job_key => 'waiting', run_at => now() + interval '1 hour'),
       add_job('task', '{"n": 2}', job_key => 'failed'),
       add_job('task', '{"n": 3}', job_key => 'abandoned'),
       add_job('task', '{"n": 4}');
update _private_jobs set attempts = max_attempts where key = 'failed';
update _private_jobs set attempts = 1, locked_at = now() - interval '4 hours 1 second', locked_by = 'gone'
 where key = 'abandoned';

select is((remove_job('waiting')).payload::text, '{"n": 1}', 'a waiting job is removed and returned');
select is((remove_job('failed')).payload::text, '{"n": 2}', 'a permanently failed job is removed and returned');
select is((remove_job('abandoned')).payload::text, '{"n": 3}',
  'a job whose lock is older than four hours is removed and returned');
select results_eq($$ select payload::text from _private_jobs $$, $$ values ('{"n": 4}') $$,
  'jobs with other keys are not removed');

select ok(remove_job('waiting') is null, 'a key without a job gives null');
select ok(remove_job(null) is null, 'a key that is null gives null');
select is((select count(*) from _private_jobs), 1::bigint, 'calls that give null remove no job');

select * from finish();
rollback;
