-- A canceled job that was running does not run again, whatever its outcome, unless an administrator reschedules it.
begin;
select plan(10);
set local search_path = graphile_worker, public;

select add_job('task', job_key => how, max_attempts => case how when 'most' then 32767 else 25 end)
  from unnest(array['completed', 'failed', 'returned', 'snoozed', 'unlocked', 'stale', 'most']) as how;
create temp table claimed as select * from get_job_batch('me', batch_size => 9);
select cancel_jobs(array(select id from claimed), 'wrong customer');

select ok(complete_job('me', id, lease),
  'a canceled job that still runs can be completed') from claimed where key = 'completed';
select ok(exists (select from fail_job('me', id, 'cut', lease, retry_in => interval '0')),
  'a canceled job that still runs can fail') from claimed where key = 'failed';
select ok(exists (select from return_job('me', id, lease)),
  'a canceled job that still runs can be returned') from claimed where key = 'returned';
select ok(exists (select from return_job('me', id, lease, run_in => interval '0')),
  'a canceled job that still runs can be returned with a delay') from claimed where key = 'snoozed';
select ok(exists (select from return_job('me', id, lease)),
  'a canceled job with the most attempts there are can be returned') from claimed where key = 'most';
update _private_jobs set locked_at = now() - interval '5 hours' where key = 'stale';
select reset_stale_locks();
select force_unlock_workers('{me}');
select set_eq(
  $$ select key, attempts, max_attempts, last_error from _private_jobs $$,
  $$ values ('failed', 25, 25, 'cut'), ('returned', 25, 25, 'wrong customer'), ('snoozed', 25, 25, 'wrong customer'),
            ('unlocked', 25, 25, 'wrong customer'), ('stale', 25, 25, 'wrong customer'), ('most', 32766, 32766, 'wrong customer') $$,
  'canceled jobs that were not completed have failed, and keep their keys');
select is_empty($$ select * from get_job_batch('me', batch_size => 9) $$, 'canceled jobs are not claimed');

select retry_jobs(array(select id from claimed where key = 'failed'));
select results_eq($$ select key from get_job('me') $$, array['failed'], 'a canceled job that is retried runs');
create or replace function _gw_is_keeper() returns boolean language sql as $$ select false $$;
select is_empty(
  $$ select c.canceled_ids from heartbeat('me') as c where c.canceled_ids <> '{}' $$,
  'a retried job is not canceled, although its row in _gw_cancels still exists');
create or replace function _gw_is_keeper() returns boolean language sql as $$ select true $$;
select heartbeat('me');
select is_empty($$ select job_id from _gw_cancels $$, 'the sweep deletes the rows of _gw_cancels');

select * from finish();
rollback;
