-- A recurring job is run now, beside its schedule.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select cron_schedule('nightly', '0 4 1 1 *', 'report', '{"a": 1.10}', queue_name => 'q', max_attempts => 3, priority => 7,
                     flags => '{f}');
select is(cron_add_job('none'), null, 'cron_add_job() returns null for a schedule that does not exist');
select isnt(cron_add_job('nightly'), null, 'cron_add_job() returns the id of a job for a schedule that exists');
select results_eq(
  $$ select j.task_identifier, j.queue_name, j.max_attempts::int, j.priority::int, j.flags, j.run_at = now() from jobs as j $$,
  $$ values ('report', 'q', 3, 7, '{"f": true}'::jsonb, true) $$,
  'the job has the options of the schedule, and is due now');
select is(
  (select j.payload::text from _private_jobs as j),
  '{"a":1.10,"_cron":{"ts":"' || to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","backfilled":false}}',
  'the job has the payload of the schedule, with the time of the call');
select results_eq(
  $$ select act, jobs, subject, job_ids from list_audit(max_rows => 1) $$,
  $$ select 'run', 1::bigint, 'schedule nightly', array[max(id)] from _private_jobs $$,
  'the audit shows the call of cron_add_job()');
select results_eq(
  $$ select k.last_execution, s.last_run, s.last_job_id
       from _private_known_crontabs as k join _gw_schedules as s on s.identifier = k.identifier $$,
  $$ values (null::timestamptz, null::timestamptz, null::bigint) $$,
  'cron_add_job() does not change the last run of the schedule');

select cron_pause('nightly');
select isnt(cron_add_job('nightly'), null, 'cron_add_job() runs a paused schedule');

select cron_schedule('keyed', '0 4 1 1 *', 'report', job_key => 'k');
select is(cron_add_job('keyed'), cron_add_job('keyed'), 'a second call replaces the job that waits under the key');
select add_job('another', job_key => 'foreign');
select cron_schedule('keyed', '0 4 1 1 *', 'report', job_key => 'foreign');
select throws_ok($$ select cron_add_job('keyed') $$, 'GWBKT');

select * from finish();
rollback;
