-- The meaning of each form of a field, and of combined fields.
begin;
select plan(4);
set local search_path = graphile_worker, public;

create temporary table examples (pattern text, yes text[], no text[]);
insert into examples values
  ('* * * * *',          '{2026-01-01 00:00, 2028-02-29 23:59}', '{}'),
  ('30 4 * * 1',         '{2026-01-05 04:30}', '{2026-01-06 04:30, 2026-01-05 04:31, 2026-01-05 16:30}'),
  ('0 */4 * * *',        '{2026-01-01 00:00, 2026-01-01 20:00}', '{2026-01-01 02:00, 2026-01-01 04:01}'),
  ('30 4,10-15 * * 1',   '{2026-01-05 04:30, 2026-01-05 10:30, 2026-01-05 15:30}', '{2026-01-05 05:30, 2026-01-05 16:30}'),
  ('*/10 * * * *',       '{2026-01-01 00:00, 2026-01-01 00:50}', '{2026-01-01 00:05}'),
  ('*/7 * * * *',        '{2026-01-01 00:56, 2026-01-01 01:00}', '{2026-01-01 01:03}'),
  ('*/99 */99 * * *',    '{2026-01-01 00:00}', '{2026-01-01 00:39, 2026-01-01 03:00}'),
  ('0 8 * * *',          '{2026-01-01 08:00}', '{2026-01-01 09:00}'),
  ('5,5,3 007 * * *',    '{2026-01-01 07:03, 2026-01-01 07:05}', '{2026-01-01 07:04}'),
  -- Steps begin at the least value of the field, which is 1 for dates and months.
  ('0 0 */2 * *',        '{2026-01-01 00:00, 2026-01-31 00:00}', '{2026-01-02 00:00}'),
  ('0 0 1 */5 *',        '{2026-01-01 00:00, 2026-06-01 00:00, 2026-11-01 00:00}', '{2026-05-01 00:00, 2026-10-01 00:00}'),
  -- 7 is Sunday, in ranges too. 2026-01-04 is one.
  ('0 0 * * 0',          '{2026-01-04 00:00}', '{2026-01-05 00:00}'),
  ('0 0 * * 7',          '{2026-01-04 00:00}', '{2026-01-05 00:00}'),
  ('0 0 * * 5-7',        '{2026-01-02 00:00, 2026-01-03 00:00, 2026-01-04 00:00}', '{2026-01-05 00:00}'),
  -- A date or a day of week, if both are restricted; else the one that is.
  ('0 0 13 * 5',         '{2026-01-13 00:00, 2026-01-02 00:00}', '{2026-01-14 00:00}'),
  ('0 0 13 * *',         '{2026-01-13 00:00}', '{2026-01-02 00:00}'),
  ('0 0 * * 5',          '{2026-01-02 00:00}', '{2026-01-13 00:00}'),
  ('0 0 13 * 0-6',       '{2026-01-13 00:00}', '{2026-01-02 00:00}'),
  ('0 0 13 * 0-7',       '{2026-01-13 00:00}', '{2026-01-02 00:00}'),
  ('0 0 13 * */1',       '{2026-01-13 00:00}', '{2026-01-02 00:00}'),
  ('0 0 1-31 * 5',       '{2026-01-02 00:00}', '{2026-01-13 00:00}'),
  ('0 0 */1 * 5',        '{2026-01-02 00:00}', '{2026-01-13 00:00}'),
  ('0 0 1-30 * 5',       '{2026-01-13 00:00}', '{2026-01-31 00:00}'),
  (e'0\t0   1 1\n*',     '{2026-01-01 00:00}', '{2026-01-02 00:00}');

select is_empty(
  $$ select e.pattern, t.at from examples as e, unnest(e.yes) as t (at) where not cron_matches(e.pattern, (t.at || 'Z')::timestamptz) $$,
  'each pattern matches its times');
select is_empty(
  $$ select e.pattern, t.at from examples as e, unnest(e.no) as t (at) where cron_matches(e.pattern, (t.at || 'Z')::timestamptz) $$,
  'no pattern matches other times');
select ok(cron_matches('5 * * * *', '2026-01-01 00:05:59.999Z'), 'each second of a matching minute matches');
select results_eq(
  $$ select cron_matches('* * * * *', t) from unnest('{null, infinity, -infinity}'::timestamptz[]) as t $$,
  $$ values (null::boolean), (false), (false) $$,
  'an infinite time never matches, and null gives null');

select * from finish();
rollback;
