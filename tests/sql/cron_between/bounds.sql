-- The first bound is exclusive, the other inclusive, and runs come in order.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select cron_between('*/2 * * * *', '2026-01-01 00:00Z', '2026-01-01 00:06Z') $$,
  $$ values ('2026-01-01 00:02Z'::timestamptz), ('2026-01-01 00:04Z'), ('2026-01-01 00:06Z') $$,
  'after since, up to and with until');
select results_eq(
  $$ select cron_between('*/2 * * * *', '2026-01-01 00:01:59.999999Z', '2026-01-01 00:05:59Z') $$,
  $$ values ('2026-01-01 00:02Z'::timestamptz), ('2026-01-01 00:04Z') $$,
  'to the microsecond');
select is_empty($$ select cron_between('* * * * *', '2026-01-01 00:05Z', '2026-01-01 00:05Z') $$, 'nothing in no time');
select is_empty($$ select cron_between('* * * * *', '2026-01-01 00:05Z', '2025-01-01 00:05Z') $$, 'nothing before');
select throws_ok($$ select cron_between('* * * * *', '-infinity', now()) $$, 'GWRBT', null, 'no end of runs');

select * from finish();
rollback;
