-- The view shows the next and the last run of a schedule, and the outcome of the last one.
begin;
select plan(11);
set local search_path = graphile_worker, public;

create function pg_temp.outcome()
  returns text
  language sql
as $$
  select last_outcome from cron_schedules where identifier = 's'
$$;

select cron_schedule('s', '30 2 * * *', 't', time_zone => 'Europe/Berlin', max_attempts => 2);
select results_eq(
  $$ select next_run, last_run, last_job_id, last_outcome, task_identifier, time_zone from cron_schedules $$,
  $$ values (cron_next('30 2 * * *', now(), 'Europe/Berlin'), null::timestamptz, null::bigint, null::text, 't', 'Europe/Berlin') $$,
  'a schedule has no last run before its first one');
update _gw_schedules set active_since = '2026-01-01 00:00Z';
select run_cron('[]', '2026-01-01 00:00Z', '2026-01-02 12:00Z');
select results_eq(
  $$ select last_run, last_job_id, last_outcome from cron_schedules $$,
  $$ select '2026-01-02 01:30Z'::timestamptz, max(id), 'ready' from jobs $$,
  'after two runs the view shows the later one, with its waiting job');
select from complete_jobs(array(select min(id) from jobs));
select from get_job('w');
select is(pg_temp.outcome(), 'running', 'the outcome is running while the last job runs');
select fail_job('w', (select id from jobs), 'oh');
select is(pg_temp.outcome(), 'scheduled',
  'the outcome is scheduled when the last job failed and waits for its next attempt');
update _private_jobs set run_at = now();
select from get_job('w');
select fail_job('w', (select id from jobs), 'oh');
select is(pg_temp.outcome(), 'failed', 'the outcome is failed when the last job failed permanently');
create role gw_test_reader;
grant usage on schema graphile_worker to gw_test_reader;
grant select on cron_schedules to gw_test_reader;
set local role gw_test_reader;
select throws_ok('select last_outcome from cron_schedules', '42501', 'permission denied for table _private_jobs',
  'reading the view requires the right to read the jobs');
reset role;
select from complete_jobs(array(select id from jobs));
select is(pg_temp.outcome(), 'unknown', 'the outcome is unknown when the last job has no row');
select cron_pause('s');
select is((select next_run from cron_schedules), null, 'a paused schedule has no next run');
select cron_resume('s');
update _gw_schedules set time_zone = 'Gone/Gone';
select is((select next_run from cron_schedules), null, 'a schedule with an unknown zone has no next run');

update _gw_schedules set active_since = '2026-01-02 12:00Z', time_zone = 'Europe/Berlin';
select is((select missed_run from cron_schedules), '2026-01-03 01:30Z'::timestamptz, 'the first run that no worker has made is missed');
select cron_pause('s');
select is((select missed_run from cron_schedules), null, 'a paused schedule has no missed run');

select * from finish();
rollback;
