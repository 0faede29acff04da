-- A paused schedule does not run, and its missed runs are not backfilled.
begin;
select plan(8);
set local search_path = graphile_worker, public;

create function pg_temp.runs(since text, now text)
  returns text
  language sql
as $$
  select string_agg(substr(s ->> 'ts', 12, 5), ', ')
    from run_cron('[]', ('2026-01-01 ' || since || 'Z')::timestamptz, ('2026-01-01 ' || now || 'Z')::timestamptz) as r
   cross join lateral json_array_elements(r.scheduled) as s
$$;

select cron_schedule('s', '* * * * *', 't', fill => '1 day');
update _gw_schedules set active_since = '2026-01-01 12:00Z';
update _private_known_crontabs set known_since = '2026-01-01 12:00Z';
select is(pg_temp.runs('12:00', '12:02'), '12:01, 12:02', 'a schedule runs before it is paused');
select ok(cron_pause('s'), 'cron_pause() returns true for a schedule that exists');
select is(pg_temp.runs('12:02', '12:04'), null, 'a paused schedule does not run');
select is(cron_schedule('s', '* * * * *', 't', fill => '1 day'), null,
  'cron_schedule() with the same arguments does not resume a paused schedule');
select ok(cron_resume('s'), 'cron_resume() returns true for a schedule that exists');
select is((select active_since from _gw_schedules), now(), 'a resumed schedule is active from the time of the call on');
update _gw_schedules set active_since = '2026-01-01 12:04:30Z';
select cron_resume('s');
select is(pg_temp.runs(null, '12:06:10'), '12:05, 12:06', 'a starting worker backfills later runs, even if the schedule is resumed once more');
select ok(not cron_pause('none') and not cron_resume('none'),
  'cron_pause() and cron_resume() return false for a schedule that does not exist');

select * from finish();
rollback;
