-- One call adds about a thousand jobs at most; the next ones, which are due at once, add the others.
begin;
select plan(17);
set local search_path = graphile_worker, public;

create temporary table calls (n integer generated always as identity, now timestamptz, since timestamptz, handled timestamptz, delay interval, runs bigint, backfilled bigint, seconds double precision);

-- Calls run_cron as a worker does, until nothing is left, a minute having passed after the third call.
create function pg_temp.work(items json, since timestamptz, now timestamptz)
  returns timestamptz
  language plpgsql
as $$
declare
  began constant timestamptz := now;
  r     record;
begin
  for n in 1..200 loop
    select * into r from run_cron(items, since, now) as c;
    insert into calls (now, since, handled, delay, runs, backfilled)
    select work.now, work.since, r.handled, r.delay, count(*), count(*) filter (where s.backfilled)
      from json_to_recordset(r.scheduled) as s (backfilled boolean);
    since := r.handled;
    exit when r.delay > '0';
    now := case when n >= 3 then began + interval '1 minute' else now end;
  end loop;
  return since;
end;
$$;

create function pg_temp.items(fill integer)
  returns json language sql
as $$
  select json_agg(json_build_object('task', 'task' || n, 'pattern', '* * * * *', 'fill', fill)) from generate_series(1, 10) as n
$$;

-- Ten items of every minute, and one without fill, that were down for a day.
insert into _private_known_crontabs (identifier, known_since, last_execution)
select i, '2026-01-01Z', '2026-02-01 00:00Z' from unnest(array(select 'task' || n from generate_series(1, 10) as n) || array['plain']) as i;
insert into _gw_schedules (identifier, task, pattern, time_zone, active_since) values ('plain', 'plain', '* * * * *', 'UTC', '2026-01-01Z');
select pg_temp.work(pg_temp.items(30 * 86400), null, '2026-02-02 00:00:30Z');

select cmp_ok(max(runs), '<=', 1100::bigint, 'no call adds more than about a thousand jobs') from calls;
select is(count(*), 15::bigint, 'fifteen calls handle the backlog') from calls;
select is(sum(runs), 10 * 1441 + 1::numeric, 'each run of the backlog has one job') from calls;
select is(count(*), 10 * 1441 + 1::bigint, 'each run has a job') from _private_jobs;
select is(sum(backfilled), 10 * 1440::numeric, 'the runs of the time before the start are backfilled') from calls;
select ok(bool_and(delay = '0') filter (where n < 15), 'the next call is due at once while more is due') from calls;
select cmp_ok((select delay from calls where n = 15), '>', interval '0',
  'the last call is followed by one at the next minute');
select is((select handled from calls where n = 1), '2026-02-02 00:00Z',
  'the first call handles as many minutes as a call without a backlog');
select is((select min(n) from calls where now > '2026-02-02 00:01Z' and runs > backfilled), 4,
  'runs that are due now do not wait for the backlog');
select is((select count(distinct last_execution) from _private_known_crontabs), 1::bigint,
  'the last minute of each item is stored');
select is((select count(*) from _private_jobs as j join _private_tasks as t on t.id = j.task_id where t.identifier = 'plain'), 1::bigint,
          'an item without fill runs for the minutes since the start');

-- A worker that was asleep for a day.
truncate calls;
delete from _private_jobs;
select pg_temp.work(pg_temp.items(0), '2026-02-02 00:01Z', '2026-02-03 00:01:30Z');
select cmp_ok(max(runs), '<=', 1100::bigint,
  'no call adds more than about a thousand jobs of the runs since the last call') from calls;
select is(count(*), 11 * 1441::bigint, 'each run has a job after a day asleep') from _private_jobs;
select is((select count(*) from (select distinct task_id, run_at from _private_jobs) as d), 11 * 1441::bigint,
  'each run has a job only once');
select ok(bool_and(handled >= since), 'no call goes back in time') from calls;
select is(sum(backfilled), 0::numeric, 'no run since the last call is backfilled') from calls;

-- Many items of one minute.
truncate calls;
delete from _private_jobs;
select pg_temp.work((select json_agg(json_build_object('task', 'many' || n, 'pattern', '* * * * *')) from generate_series(1, 2500) as n),
                    '2026-02-03 00:02Z', '2026-02-03 00:03:30Z');
select results_eq($$ select count(*), (select array_agg(runs order by n) from calls) from _private_jobs $$,
                  $$ values (2501::bigint, array[1000, 1000, 501]::bigint[]) $$,
                  'a call adds a thousand of 2500 jobs of one minute; the next ones add the others');

select * from finish();
rollback;
