-- The first bound is exclusive, the other inclusive, and runs are returned in order.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select cron_between('*/2 * * * *', '2026-01-01 00:00Z', '2026-01-01 00:06Z') $$,
  $$ values ('2026-01-01 00:02Z'::timestamptz), ('2026-01-01 00:04Z'), ('2026-01-01 00:06Z') $$,
  'runs after since and up to until, inclusive, are returned');
select results_eq(
  $$ select cron_between('*/2 * * * *', '2026-01-01 00:01:59.999999Z', '2026-01-01 00:05:59Z') $$,
  $$ values ('2026-01-01 00:02Z'::timestamptz), ('2026-01-01 00:04Z') $$,
  'both bounds are compared to the microsecond');
select is_empty($$ select cron_between('* * * * *', '2026-01-01 00:05Z', '2026-01-01 00:05Z') $$,
  'there are no runs between equal bounds');
select is_empty($$ select cron_between('* * * * *', '2026-01-01 00:05Z', '2025-01-01 00:05Z') $$,
  'there are no runs if until is before since');
select throws_ok($$ select cron_between('* * * * *', '-infinity', now()) $$, 'GWRBT', null,
  'an infinite bound is refused');
select throws_ok(format($$ select cron_between('* * * * *', %L, now(), 'Pacific/Apia') $$, at), 'GWRBT', null, 'since ' || at)
  from unnest(array['4714-11-24 BC', '200000-01-01']) as at;
select results_eq(
  $$ select cron_between('59 23 31 12 *', at::timestamptz - interval '1 day', at::timestamptz, 'UTC') from unnest(array['0001-12-31 23:59Z', '199999-12-31 23:59Z']) as at $$,
  $$ values ('0001-12-31 23:59Z'::timestamptz), ('199999-12-31 23:59Z') $$,
  'the first and the last year that are allowed have runs');
select is(row(cron_next('* * * * *', at), cron_matches('* * * * *', at))::text, '(,f)',
  'a schedule has no runs in the last year of PostgreSQL')
  from unnest(array['294276-12-31 23:59Z'::timestamptz]) as at;

select * from finish();
rollback;
