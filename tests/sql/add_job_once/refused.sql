-- Calls without a key, with an interval that cannot be, or with what add_job refuses add nothing.
begin;
select plan(14);
set local search_path = graphile_worker, public;

select throws_ok($$ select add_job_once('task') $$, 'GWOKY', 'The key is null.', 'once needs a key');
select throws_ok($$ select debounce_job('task', wait => '1 s') $$, 'GWOKY', 'The key is null.', 'debounce, too');
select throws_ok($$ select throttle_job('task', every => '1 s') $$, 'GWOKY', 'The key is null.', 'and throttle');
select throws_ok($$ select add_job_once('task', key => 'k', within => '0') $$, 'GWOIV', 'The argument within is ''00:00:00''; it must be more than 0, and at most 1000 years.', 'an interval of nothing');
select throws_ok($$ select add_job_once('task', key => 'k', within => null) $$, 'GWOIV', 'The argument within is null; it must be more than 0, and at most 1000 years.', 'no interval');
select throws_ok($$ select add_job_once('task', key => 'k', within => '1001 years') $$, 'GWOIV', null, 'a long one');
select throws_ok($$ select debounce_job('task', key => 'k') $$, 'GWOIV', 'The argument wait is null; it must be at least 0, and at most 1000 years.', 'debounce needs wait');
select throws_ok($$ select debounce_job('task', key => 'k', wait => '1 s', max_wait => '-1 s') $$, 'GWOIV', null, 'a negative max_wait');
select throws_ok($$ select throttle_job('task', key => 'k') $$, 'GWOIV', 'The argument every is null; it must be more than 0, and at most 1000 years.', 'throttle needs every');
select throws_ok($$ select throttle_job('task', key => 'k', every => '-1 day') $$, 'GWOIV', null, 'a negative one');
select throws_ok($$ select add_job_once('task', key => repeat('k', 513)) $$, 'GWBJK', null, 'a key that is too long');
select throws_ok($$ select debounce_job(repeat('t', 129), key => 'k', wait => '1 s') $$, 'GWBID', null, 'a task that is too long');
select throws_ok($$ select throttle_job('task', key => 'k', every => '1 s', max_attempts => 0) $$, 'GWBMA', null, 'max_attempts');
select is((select (select count(*) from _gw_keyed_calls) + (select count(*) from _private_jobs) + (select count(*) from _private_tasks)), 0::bigint, 'none of them has left anything');

select * from finish();
rollback;
