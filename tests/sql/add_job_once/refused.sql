-- Calls without a key, with an interval that cannot be, or with what add_job refuses add nothing.
begin;
select plan(14);
set local search_path = graphile_worker, public;

select throws_ok($$ select add_job_once('task') $$, 'GWOKY', 'The key is null.', 'add_job_once() needs a key');
select throws_ok($$ select debounce_job('task', wait => '1 s') $$, 'GWOKY', 'The key is null.',
  'debounce_job() needs a key');
select throws_ok($$ select throttle_job('task', every => '1 s') $$, 'GWOKY', 'The key is null.',
  'throttle_job() needs a key');
select throws_ok($$ select add_job_once('task', key => 'k', within => '0') $$, 'GWOIV', 'The argument within is ''00:00:00''; it must be more than 0, and at most 1000 years.',
  'add_job_once() refuses an interval of zero');
select throws_ok($$ select add_job_once('task', key => 'k', within => null) $$, 'GWOIV', 'The argument within is null; it must be more than 0, and at most 1000 years.',
  'add_job_once() refuses an interval that is null');
select throws_ok($$ select add_job_once('task', key => 'k', within => '1001 years') $$, 'GWOIV', null,
  'add_job_once() refuses an interval of more than 1000 years');
select throws_ok($$ select debounce_job('task', key => 'k') $$, 'GWOIV', 'The argument wait is null; it must be at least 0, and at most 1000 years.',
  'debounce_job() needs the argument wait');
select throws_ok($$ select debounce_job('task', key => 'k', wait => '1 s', max_wait => '-1 s') $$, 'GWOIV', null,
  'debounce_job() refuses a negative max_wait');
select throws_ok($$ select throttle_job('task', key => 'k') $$, 'GWOIV', 'The argument every is null; it must be more than 0, and at most 1000 years.',
  'throttle_job() needs the argument every');
select throws_ok($$ select throttle_job('task', key => 'k', every => '-1 day') $$, 'GWOIV', null,
  'throttle_job() refuses a negative interval');
select throws_ok($$ select add_job_once('task', key => repeat('k', 513)) $$, 'GWBJK', null,
  'add_job_once() refuses a key that is too long');
select throws_ok($$ select debounce_job(repeat('t', 129), key => 'k', wait => '1 s') $$, 'GWBID', null,
  'debounce_job() refuses a task identifier that is too long');
select throws_ok($$ select throttle_job('task', key => 'k', every => '1 s', max_attempts => 0) $$, 'GWBMA', null,
  'throttle_job() refuses max_attempts of 0');
select is((select (select count(*) from _gw_keyed_calls) + (select count(*) from _private_jobs) + (select count(*) from _private_tasks)), 0::bigint,
  'none of the refused calls has left a row');

select * from finish();
rollback;
