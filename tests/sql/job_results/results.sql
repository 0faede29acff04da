-- Results are stored for those who asked: by expect_result(), await_jobs() or keep_task().
begin;
select plan(22);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;
\ir ../history.psql

create function pg_temp.ends() returns text as $body$
  select coalesce(string_agg(concat_ws(' ', r.id, r.state, r.result, r.error), ', ' order by r.id), '') from job_results(array(select generate_series(1, 9))) as r;
$body$ language sql;

select add_job('task', max_attempts => 1) from generate_series(1, 9);
select count(*) from get_job_batch('w', null, 5);
select is(pg_temp.ends(), '', 'jobs that wait or run have not ended');
select expect_result(1);
select complete_job('w', 1, result => '{"a": 1}');
select is(pg_temp.ends(), '1 completed {"a": 1}', 'a result that was asked for is stored, without the trigger');
select complete_job('w', 2, result => '{"a": 1}');
select is(pg_temp.ends(), '1 completed {"a": 1}, 2 gone', 'a result that nobody asked for is not stored');

select ok(await_jobs('{3,4,5,6,7,2,100}'), 'await_jobs() returns true for several jobs');
select is((select count(*) from _gw_expected), 6::bigint, 'await_jobs() has the ends of jobs that exist recorded');
select fail_job('w', 3, 'no such host');
select count(*) from complete_job_batch('w', '{4,5}', results => array[null, '[5]']::json[]);
select is(pg_temp.ends(), '1 completed {"a": 1}, 2 gone, 3 permanently_failed no such host, 4 completed, 5 completed [5]',
  'the ends of several jobs are recorded, with their results and errors');
select count(*) from retry_jobs('{3}');
select is((select count(*) from job_results('{3}')), 0::bigint, 'a job that is retried has not ended any more');
select complete_jobs('{6}');
delete from _private_jobs where id = 7;
select is((select string_agg(r.state, ' ' order by r.id) from job_results('{6,7}') as r), 'completed removed',
  'the ends of jobs that others complete or delete are recorded');

select keep_task('task', '1 day', results => true);
select count(*) from get_job_batch('w', null, 9);
select complete_job('w', 8, result => '"eight"');
select is((select r.state || ' ' || r.result from job_results('{8}') as r), 'completed "eight"',
  'the result of a job whose task keeps results is recorded');
select pg_temp.pack();
select is((select r.state || ' ' || r.result from job_results('{8}') as r), 'completed "eight"',
  'a packed record has the result');
select is((select h.result::text from job_history(8) as h), '"eight"', 'the history of a job has its result');
select keep_task('task', '1 day');
select complete_job('w', 9, result => '"nine"');
select is((select r.state || coalesce(r.result::text, '') from job_results('{9}') as r), 'completed',
  'the result of a job whose task does not keep results is not recorded');

-- Refusals.
select add_job('task'); -- 10
select pg_temp.claim('w');
select expect_result(10);
select ok(not complete_job('w', 10, 1, '"late"'), 'a job cannot be completed with an outdated lease');
select is((select e.result from _gw_expected as e where e.job_id = 10)::text, null,
  'an outcome with an outdated lease stores no result');
select ok(complete_job('w', 10, result => to_json(repeat('x', 1048576))), 'a result that is too large does not fail the job');
select is((select r.state || ' ' || (r.result ->> 'gw_dropped') from job_results('{10}') as r),
  'completed The result has 1048578 bytes; the setting max_result allows 1048576.',
  'a result that is too large is replaced by a note');
select throws_ok($$ select complete_job_batch('w', '{10}', results => '{}') $$, 'GWWOB', null,
  'a batch with fewer results than jobs is refused');
select throws_ok($$ select expect_result(10, '-1 s') $$, 'GWOIV', null, 'a negative time is refused');
select expect_result(1000000);
select is((select count(*) from _gw_expected where job_id = 1000000), 0::bigint,
  'a result cannot be asked for of a job that does not exist yet');
select throws_ok($$ select expect_result(null) $$, 'GWOJN', null, 'a job id that is null is refused');
update _gw_expected set kept_until = now() - interval '1 second' where job_id = 4;
select tidy();
select is((select count(*) from _gw_expected where job_id in (4, 5)), 1::bigint,
  'results are deleted after their time');
select is((select count(*) from job_results(null)), 0::bigint, 'job_results(null) returns no rows');

select * from finish();
rollback;
