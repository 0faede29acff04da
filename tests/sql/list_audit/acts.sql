-- Each act of an operator is recorded in its transaction.
begin;
select plan(22);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

create function pg_temp.last() returns table (act text, jobs bigint, subject text, job_ids bigint[]) language sql as $$
  select a.act, a.jobs, a.subject, a.job_ids from graphile_worker.list_audit(max_rows => 1) as a
$$;
select add_job('mail') from generate_series(1, 9);
select is((select count(*) from list_audit()), 0::bigint, 'add_job() is not recorded');

select permanently_fail_jobs('{1,2}', 'why not');
select results_eq('select * from pg_temp.last()', $$ values ('fail', 2::bigint, 'why not', '{1,2}'::bigint[]) $$,
  'permanently_fail_jobs() is recorded');
select retry_jobs('{1,2,99}');
select results_eq('select * from pg_temp.last()', $$ values ('retry', 2::bigint, null, '{1,2,99}'::bigint[]) $$,
  'retry_jobs() is recorded');
select reschedule_jobs('{1}', priority => 3, attempts => 0);
select results_eq('select * from pg_temp.last()', $$ values ('reschedule', 1::bigint, 'priority 3, attempts 0', '{1}'::bigint[]) $$,
  'reschedule_jobs() is recorded');
select cancel_jobs('{1}', 'wrong customer');
select results_eq('select * from pg_temp.last()', $$ values ('cancel', 1::bigint, 'wrong customer', '{1}'::bigint[]) $$,
  'cancel_jobs() is recorded');
select complete_jobs('{1}');
select results_eq('select * from pg_temp.last()', $$ values ('complete', 1::bigint, null, '{1}'::bigint[]) $$,
  'complete_jobs() is recorded');
select complete_jobs('{1}');
select is((select count(*) from list_audit()), 5::bigint, 'a call that changes nothing is not recorded');
select get_job('w');
select force_unlock_workers('{w}');
select results_eq('select * from pg_temp.last()', $$ values ('unlock', 1::bigint, 'w', '{2}'::bigint[]) $$,
  'force_unlock_workers() is recorded');
select set_setting('notify', 'idle');
select results_eq('select * from pg_temp.last()', $$ values ('set', 0::bigint, 'notify = idle', null::bigint[]) $$,
  'set_setting() is recorded');
select set_setting('notify', null);
select results_eq('select * from pg_temp.last()', $$ values ('set', 0::bigint, 'notify = default always', null::bigint[]) $$,
  'set_setting() with null is recorded with the default');
select permanently_fail_jobs('{3}');
select cleanup('{DELETE_PERMAFAILED_JOBS}');
select results_eq('select * from pg_temp.last()', $$ values ('cleanup', 1::bigint, 'DELETE_PERMAFAILED_JOBS 1', null::bigint[]) $$,
  'cleanup() is recorded');
select cron_schedule('daily', '0 4 * * *', 'mail');
select results_eq('select * from pg_temp.last()', $$ values ('schedule', 0::bigint, 'daily', null::bigint[]) $$,
  'cron_schedule() is recorded');
select cron_pause('daily');
select results_eq('select * from pg_temp.last()', $$ values ('pause', 0::bigint, 'schedule daily', null::bigint[]) $$,
  'cron_pause() is recorded');
select cron_resume('daily');
select results_eq('select * from pg_temp.last()', $$ values ('resume', 0::bigint, 'schedule daily', null::bigint[]) $$,
  'cron_resume() is recorded');
select cron_schedule('daily', '0 4 * * *', 'mail');
select results_eq('select * from pg_temp.last()', $$ values ('resume', 0::bigint, 'schedule daily', null::bigint[]) $$,
  'a call of cron_schedule() that changes nothing is not recorded');
select cron_unschedule('daily');
select results_eq('select * from pg_temp.last()', $$ values ('unschedule', 0::bigint, 'daily', null::bigint[]) $$,
  'cron_unschedule() is recorded');
select is(array[cron_pause('none'), cron_resume('none'), cron_unschedule('none')], '{f,f,f}',
  'calls with a schedule that does not exist return false');

select add_job('mail', job_key => 'k');
select remove_job('k');
select results_eq('select act from pg_temp.last()', $$ values ('unschedule') $$,
  'remove_job() by a program is not recorded');
select add_job('mail', job_key => 'k');
set local gw.actor = 'Ada';
select remove_job('k');
select results_eq('select act, jobs from pg_temp.last()', $$ values ('remove', 1::bigint) $$,
  'remove_job() by a named operator is recorded');

set local gw.selection = 'task mail';
set local gw.operation = 'op-1';
select retry_jobs('{5}');
select retry_jobs('{6,7}');
select results_eq(
  $$ select a.act, a.jobs, a.job_ids, a.role = session_user, a.actor, a.selection, a.operation, a.ended_at >= a.at from list_audit(max_rows => 1) as a $$,
  $$ values ('retry', 3::bigint, '{5}'::bigint[], true, 'Ada', 'task mail', 'op-1', true) $$,
  'the calls of one operation are recorded in one row');
select is((select count(*) from list_audit(below_id => (select min(id) + 2 from _gw_audit))), 2::bigint,
  'list_audit() returns the acts below an id');

update _gw_audit set at = now() - interval '91 days' where act = 'fail';
insert into _gw_samples select now() - interval '8 days', 0, 0, 0, 0, false, null, 0, 0, 0;
select _gw_drop_spent();
select is((select count(*) from list_audit() where act = 'fail') + (select count(*) from _gw_samples), 0::bigint, 'old acts and samples are deleted');

select * from finish();
rollback;
