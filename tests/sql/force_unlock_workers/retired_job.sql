-- Unlocking does not revive a job that was replaced or removed while it ran.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'key');
select get_job('dead');
select remove_job('key');
select force_unlock_workers('{dead}');
select results_eq(
  $$ select attempts, max_attempts, locked_by, is_available from _private_jobs $$,
  $$ values (25::smallint, 25::smallint, null::text, false) $$,
  'a replaced or removed job that is unlocked has failed permanently');
select is_empty($$ select id from get_job('next') $$, 'a removed job that is unlocked cannot be claimed');

select * from finish();
rollback;
