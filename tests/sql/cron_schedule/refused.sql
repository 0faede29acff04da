-- Schedules that could never run are refused, and so are identifiers in the crontab of a registered worker.
begin;
select plan(16);
set local search_path = graphile_worker, public;

select throws_ok($$ select cron_schedule('s', '60 * * * *', 't') $$, 'GWRPT',
                 'Too large value ''60'' in minutes range in cron_schedule call: expected values in the range 0-59.',
                 'a pattern with a minute that is too large is refused');
select throws_ok($$ select cron_schedule('s', null, 't') $$, 'GWRPT', 'Invalid cron pattern ''null'' in cron_schedule call',
  'a pattern that is null is refused');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', time_zone => 'Nowhere') $$, 'GWRTZ', 'Time zone ''Nowhere'' is not known to the server.',
  'an unknown time zone is refused');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', time_zone => null) $$, 'GWRTZ', 'Time zone ''null'' is not known to the server.',
  'a time zone that is null is refused');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', '[]') $$, 'GWRIT', 'Payload in cron_schedule call must be an object.',
  'a payload that is not an object is refused');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', fill => '-1 second') $$, 'GWRIT', 'Fill in cron_schedule call must not be negative.',
  'a negative fill is refused');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't', fill => '178000000 years') $$, 'GWRIT', 'Fill in cron_schedule call must be at most 100 years.',
  'a fill of more than 100 years is refused');
select throws_ok($$ select cron_schedule(null, '* * * * *', 't') $$, 'GWRIT', 'Identifier in cron_schedule call must be 1 to 128 characters long.',
  'an identifier that is null is refused');
select throws_ok($$ select cron_schedule('s', '* * * * *', null) $$, 'GWBNI', 'Task identifier must not be null.',
  'a task that is null is refused');
-- As the jobs of each run would be, and with them the tick of every worker.
select throws_ok(format('select cron_schedule(%L, %L, %L, %L)', 's', '* * * * *', 't', p), c, null, p)
  from (values ('{"a": "\u0000"}', '22P05'), ('{"\ud800": 1}', '22P02')) as e (p, c);
select set_setting('max_payload', '1048576');
select throws_ok(
  $$ select cron_schedule('s', '* * * * *', 't', json_build_object('a', repeat('x', 1048577 - 69))) $$,
  'GWBPL', 'Payload has 1048577 bytes, at most 1048576 are allowed.',
  'a payload that is too large with its run is refused');
select lives_ok(
  $$ select cron_schedule('large', '* * * * *', 't', json_build_object('a', repeat('x', 1048576 - 69))) $$,
  'a payload that is as large as allowed with its run is accepted');
select cron_unschedule('large');

select register_worker('w');
select run_cron('[{"task": "s", "pattern": "* * * * *"}]', worker_id => 'w');
select throws_ok($$ select cron_schedule('s', '* * * * *', 't') $$, 'GWRID', 'Identifier ''s'' is in the crontab of worker ''w''.',
  'an identifier in the crontab of a registered worker is refused');
select deregister_worker('w');
select lives_ok($$ select cron_schedule('s', '* * * * *', 't') $$,
  'the identifier is accepted when its worker has unregistered');
select is((select count(*) from _gw_schedules), 1::bigint, 'no other schedule was stored');

select * from finish();
rollback;
