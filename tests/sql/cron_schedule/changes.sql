-- A schedule that gets another pattern or zone starts anew; repeating the same call changes nothing.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select cron_schedule('s', '0 8 * * *', 'task');
update _gw_schedules set active_since = '2026-01-01 00:00Z';
select cron_schedule('s', '0 8 * * *', 'other', '{"a": 1}', fill => '2 days');
select results_eq(
  $$ select active_since, task, payload::text, fill from _gw_schedules $$,
  $$ values ('2026-01-01 00:00Z'::timestamptz, 'other', '{"a": 1}', interval '2 days') $$,
  'other attributes of a schedule change without starting it anew');
select cron_schedule('s', '0 9 * * *', 'other');
select results_eq(
  $$ select active_since, pattern, payload::text, fill from _gw_schedules $$,
  $$ values (now(), '0 9 * * *', null, interval '0') $$,
  'a new pattern applies from now on, and omitted arguments get their defaults');
update _gw_schedules set active_since = '2026-01-01 00:00Z';
select is(cron_schedule('s', '0 9 * * *', 'other', time_zone => 'Asia/Tokyo'), cron_next('0 0 * * *', now()),
  'a schedule with a new zone has its next run in this zone');
select is((select active_since from _gw_schedules), now(), 'a schedule with a new zone is active from now on');
select is((select count(*) from _gw_schedules), 1::bigint, 'all calls with one identifier change the same schedule');

select * from finish();
rollback;
