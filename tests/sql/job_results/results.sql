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
select is(pg_temp.ends(), '1 completed {"a": 1}', 'without the trigger, a result that was asked for is stored');
select complete_job('w', 2, result => '{"a": 1}');
select is(pg_temp.ends(), '1 completed {"a": 1}, 2 gone', 'another one is not');

select ok(await_jobs('{3,4,5,6,7,2,100}'), 'whoever waits makes sure that ends are recorded');
select is((select count(*) from _gw_expected), 6::bigint, 'of jobs that exist');
select fail_job('w', 3, 'no such host');
select count(*) from complete_job_batch('w', '{4,5}', results => array[null, '[5]']::json[]);
select is(pg_temp.ends(), '1 completed {"a": 1}, 2 gone, 3 permanently_failed no such host, 4 completed, 5 completed [5]', 'of several jobs');
select count(*) from retry_jobs('{3}');
select is((select count(*) from job_results('{3}')), 0::bigint, 'a job that is retried has not ended any more');
select complete_jobs('{6}');
delete from _private_jobs where id = 7;
select is((select string_agg(r.state, ' ' order by r.id) from job_results('{6,7}') as r), 'completed removed', 'ends by others');

select keep_task('task', '1 day', results => true);
select count(*) from get_job_batch('w', null, 9);
select complete_job('w', 8, result => '"eight"');
select is((select r.state || ' ' || r.result from job_results('{8}') as r), 'completed "eight"', 'a task that keeps results');
select pg_temp.pack();
select is((select r.state || ' ' || r.result from job_results('{8}') as r), 'completed "eight"', 'also later');
select is((select h.result::text from job_history(8) as h), '"eight"', 'in its history');
select keep_task('task', '1 day');
select complete_job('w', 9, result => '"nine"');
select is((select r.state || coalesce(r.result::text, '') from job_results('{9}') as r), 'completed', 'a task that does not');

-- Refusals.
select add_job('task'); -- 10
select pg_temp.claim('w');
select expect_result(10);
select ok(not complete_job('w', 10, 1, '"late"'), 'an outcome by a wrong lease');
select is((select e.result from _gw_expected as e where e.job_id = 10)::text, null, 'stores no result');
select ok(complete_job('w', 10, result => to_json(repeat('x', 1048576))), 'a result that is too large does not fail the job');
select is((select r.state || ' ' || (r.result ->> 'gw_dropped') from job_results('{10}') as r),
  'completed The result has 1048578 bytes; the setting max_result allows 1048576.', 'but is dropped with a note');
select throws_ok($$ select complete_job_batch('w', '{10}', results => '{}') $$, 'GWWOB', null, 'each job has one result');
select throws_ok($$ select expect_result(10, '-1 s') $$, 'GWOIV', null, 'a time is not negative');
select expect_result(1000000);
select is((select count(*) from _gw_expected where job_id = 1000000), 0::bigint, 'nobody can ask for a job that does not exist yet');
select throws_ok($$ select expect_result(null) $$, 'GWOJN', null, 'there must be a job');
update _gw_expected set kept_until = now() - interval '1 second' where job_id = 4;
select tidy();
select is((select count(*) from _gw_expected where job_id in (4, 5)), 1::bigint, 'answers are deleted after their time');
select is((select count(*) from job_results(null)), 0::bigint, 'no jobs have no results');

select * from finish();
rollback;
