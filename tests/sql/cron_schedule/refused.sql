-- Schedules that could never run are refused, and so are identifiers in the crontab of a registered worker.
begin;
select plan(16);
set local search_path = graphile_worker, public;

select throws_ok($$ select cron_schedule('s', '60 * * * *', 't') $$, 'GWRPT',
                 'Too large value ''60'' in minutes range in cron_schedule call: expected values in the range 0-59.', 'a pattern');
select throws_ok($$ select cron_schedule('s', null, 't') $$, 'GWRPT', 'Invalid cron pattern ''null'' in cron_schedule call', 'no pattern');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', time_zone => 'Nowhere') $$, 'GWRTZ', 'Time zone ''Nowhere'' is not known to the server.', 'a zone');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', time_zone => null) $$, 'GWRTZ', 'Time zone ''null'' is not known to the server.', 'no zone');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', '[]') $$, 'GWRIT', 'Payload in cron_schedule call must be an object.', 'a payload');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', fill => '-1 second') $$, 'GWRIT', 'Fill in cron_schedule call must not be negative.', 'a fill');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', fill => '178000000 years') $$, 'GWRIT', 'Fill in cron_schedule call must be at most 100 years.', 'a long fill');
select throws_ok($$ select cron_schedule(null, '* * * * *', 't') $$, 'GWRIT', 'Identifier in cron_schedule call must be 1 to 128 characters long.', 'no identifier');
select throws_ok($$ select cron_schedule('s', '* * * * *', null) $$, 'GWBNI', 'Task identifier must not be null.', 'no task');
-- As the jobs of each run would be, and with them the tick of every worker.
select throws_ok(format('select cron_schedule(%L, %L, %L, %L)', 's', '* * * * *', 't', p), c, null, p)
  from (values ('{"a": "\u0000"}', '22P05'), ('{"\ud800": 1}', '22P02')) as e (p, c);
select set_setting('max_payload', '1048576');
select throws_ok(
  $$ select cron_schedule('s', '* * * * *', 't', json_build_object('a', repeat('x', 1048577 - 69))) $$,
  'GWBPL', 'Payload has 1048577 bytes, at most 1048576 are allowed.', 'a payload that is too large with its run');
select lives_ok(
  $$ select cron_schedule('large', '* * * * *', 't', json_build_object('a', repeat('x', 1048576 - 69))) $$, 'one that is not');
select cron_unschedule('large');

select register_worker('w');
select run_cron('[{"task": "s", "pattern": "* * * * *"}]', worker_id => 'w');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't') $$, 'GWRID', 'Identifier ''s'' is in the crontab of worker ''w''.', 'another one''s');
select deregister_worker('w');
select lives_ok($$ select cron_schedule('s', '* * * * *', 't') $$, 'until that worker has unregistered');
select is((select count(*) from _gw_schedules), 1::bigint, 'nothing else was set up');

select * from finish();
rollback;
