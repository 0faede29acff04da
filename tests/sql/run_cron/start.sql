-- A starting worker makes new items known without running them, and backfills known ones, oldest run first.
begin;
select plan(7);
set local search_path = graphile_worker, public;

create function pg_temp.start(now text)
  returns table (identifier text, ts timestamptz, backfilled boolean)
  language sql
as $$
  select s.*
    from run_cron('[{"task": "b", "pattern": "*/10 * * * *", "fill": 3600}, {"task": "a", "pattern": "*/15 * * * *", "fill": 1800},
                    {"task": "none", "pattern": "* * * * *"}]', now => (now || 'Z')::timestamptz) as r
   cross join lateral json_to_recordset(r.scheduled) as s (identifier text, ts timestamptz, backfilled boolean)
$$;

select is_empty($$ select pg_temp.start('2026-01-01 12:00:30') $$, 'new items do not run');
select results_eq(
  $$ select identifier, known_since, last_execution from _private_known_crontabs order by identifier $$,
  $$ select i, '2026-01-01 12:00:30Z'::timestamptz, null::timestamptz from unnest(array['a', 'b', 'none']) as i $$,
  'new items are known from then on');
select results_eq(
  $$ select * from pg_temp.start('2026-01-01 12:20:00.001') $$,
  $$ values ('b', '2026-01-01 12:10Z'::timestamptz, true), ('a', '2026-01-01 12:15Z', true), ('b', '2026-01-01 12:20Z', true) $$,
  'the runs since an item is known are backfilled in order');
select is_empty($$ select * from pg_temp.start('2026-01-01 12:20:00.001') $$, 'the same runs are not backfilled again');
select results_eq(
  $$ select * from pg_temp.start('2026-01-01 16:00:00') $$,
  $$ values ('b', '2026-01-01 15:00Z'::timestamptz, true), ('b', '2026-01-01 15:10Z', true), ('b', '2026-01-01 15:20Z', true),
            ('b', '2026-01-01 15:30Z', true), ('a', '2026-01-01 15:30Z', true), ('b', '2026-01-01 15:40Z', true),
            ('a', '2026-01-01 15:45Z', true), ('b', '2026-01-01 15:50Z', true) $$,
  'runs are backfilled as far back as fill goes, without the minute that has just begun');
select results_eq(
  $$ select array_agg(t.identifier order by j.id) from _private_jobs as j join _private_tasks as t on t.id = j.task_id
      where j.run_at >= '2026-01-01 15:00Z' $$,
  $$ values (array['b', 'b', 'b', 'b', 'a', 'b', 'a', 'b']) $$,
  'the jobs of backfilled runs are added in their order');
select results_eq(
  $$ select identifier, last_execution from _private_known_crontabs order by identifier $$,
  $$ values ('a', '2026-01-01 15:45Z'::timestamptz), ('b', '2026-01-01 15:50Z'), ('none', null) $$,
  'the last minute that ran is stored');

select * from finish();
rollback;
