-- When the offset of a zone changes, patterns with fixed local times still run once, and patterns with intervals follow
-- elapsed time.
begin;
select plan(7);
set local search_path = graphile_worker, public;

-- In Berlin, 2 to 3 is skipped on 29 March 2026, and comes twice on 25 October.
select results_eq(
  $$ select cron_between('30 2 * * *', '2026-03-28 00:00Z', '2026-03-31 00:00Z', 'Europe/Berlin') $$,
  $$ values ('2026-03-28 01:30Z'::timestamptz), ('2026-03-29 01:00Z'), ('2026-03-30 00:30Z') $$,
  'a run at a skipped local time comes after the gap');
select results_eq(
  $$ select cron_between('0,20,40 2,3 * * *', '2026-03-29 00:00Z', '2026-03-29 12:00Z', 'Europe/Berlin') $$,
  $$ values ('2026-03-29 01:00Z'::timestamptz), ('2026-03-29 01:20Z'), ('2026-03-29 01:40Z') $$,
  'all runs at skipped local times come once after the gap');
select results_eq(
  $$ select cron_between('30 2 * * *', '2026-10-24 12:00Z', '2026-10-26 12:00Z', 'Europe/Berlin') $$,
  $$ values ('2026-10-25 00:30Z'::timestamptz), ('2026-10-26 01:30Z') $$,
  'a run at a local time that comes twice is made at the first');
select results_eq(
  $$ select cron_between('30 1-3 * * *', '2026-10-24 12:00Z', '2026-10-25 12:00Z', 'Europe/Berlin') $$,
  $$ values ('2026-10-24 23:30Z'::timestamptz), ('2026-10-25 00:30Z'), ('2026-10-25 01:30Z'), ('2026-10-25 02:30Z') $$,
  'a range of hours runs in both passes of an hour that comes twice');
select results_eq(
  $$ select cron_between('30 1-3 * * *', '2026-03-28 12:00Z', '2026-03-29 12:00Z', 'Europe/Berlin') $$,
  $$ values ('2026-03-29 00:30Z'::timestamptz), ('2026-03-29 01:30Z') $$,
  'a range of hours has no run in the gap');
select results_eq(
  $$ select count(*), count(distinct cron_matches('* * * * *', m, 'Australia/Lord_Howe'))
       from generate_series('2026-04-04 12:00Z'::timestamptz, '2026-04-05 12:00Z', '1 minute') as m $$,
  $$ values (1441::bigint, 1::bigint) $$,
  'a pattern of every minute matches each minute when the offset changes');
select throws_ok($$ select cron_matches('* * * * *', now(), 'Mars/Olympus') $$, 'GWRTZ',
                 'Time zone ''Mars/Olympus'' is not known to the server.',
                 'a time zone that does not exist is refused');

select * from finish();
rollback;
