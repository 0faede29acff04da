-- The next run is found however far in the future it is; null means that there is none.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select cron_next(p.pattern, (p.after || 'Z')::timestamptz)
       from (values ('0 0 29 2 *', '2026-01-01'), ('0 0 29 2 *', '2028-02-29'), ('59 23 29 2 *', '2096-02-29 23:59'),
                    ('0 0 29 2 1', '2028-03-01'), ('0 0 31 4,12 *', '2026-01-01'), ('* * * * *', '2026-01-01 00:00:59.9'),
                    ('* * * * *', '2026-01-01 00:01'), ('0 0 1 1 *', '2026-01-01')) as p (pattern, after) $$,
  $$ values ('2028-02-29 00:00Z'::timestamptz), ('2032-02-29 00:00Z'), ('2104-02-29 23:59Z'), ('2029-02-05 00:00Z'),
            ('2026-12-31 00:00Z'), ('2026-01-01 00:01Z'), ('2026-01-01 00:02Z'), ('2027-01-01 00:00Z') $$,
  'cron_next() returns the next run');
select is_empty(
  $$ select p from unnest(array['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '* * 31 11 *']) as p
      where cron_next(p, now()) is not null or cron_next(p, now(), 'Asia/Kathmandu') is not null $$,
  'cron_next() returns null for dates that never come');
select is_empty($$ select t from unnest('{null, infinity, -infinity}'::timestamptz[]) as t where cron_next('* * * * *', t) is not null $$,
                'cron_next() returns null after an infinite time');

select * from finish();
rollback;
