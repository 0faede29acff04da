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

select is((remove_job('waiting')).payload::text, '{"n": 1}', 'a waiting job');
select is((remove_job('failed')).payload::text, '{"n": 2}', 'a permanently failed one');
select is((remove_job('abandoned')).payload::text, '{"n": 3}', 'one whose lock is older than four hours');
select results_eq($$ select payload::text from _private_jobs $$, $$ values ('{"n": 4}') $$, 'other jobs stay');

select ok(remove_job('waiting') is null, 'a key that is not there gives null');
select ok(remove_job(null) is null, 'so does a null key');
select is((select count(*) from _private_jobs), 1::bigint, 'and removes nothing');

select * from finish();
rollback;
