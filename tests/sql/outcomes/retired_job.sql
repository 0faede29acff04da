-- A job that was replaced while it ran does not run again, whatever its worker or the sweep reports, and the result says so;
-- completing it deletes it.
begin;
select plan(10);
set local search_path = graphile_worker, public;

select add_job('task', job_key => k, max_attempts => 3)
  from unnest(array['complete', 'fail', 'fail later', 'return', 'return later', 'reset']) as k;
create temp table retired as select * from get_job_batch('worker', batch_size => 9);
select register_worker('worker');
select add_job('other', job_key => key, run_at => now() + interval '1 hour') from retired;
select is((select count(*) from _private_jobs), 12::bigint, 'each replaced job has a successor that waits');

select ok(complete_job('worker', id, lease), 'a replaced job can be completed') from retired where key = 'complete';
select ok((select (f.id, f.state, f.attempts, f.max_attempts) = (r.id, 'failed', 3, 3) from fail_job('worker', r.id, 'no luck', r.lease, retry_in => '0') as f),
  'a replaced job that fails is permanently failed')
  from retired as r where r.key = 'fail';
select ok((select (f.id, f.state, f.attempts, f.max_attempts) = (r.id, 'failed', 3, 3)
             from fail_job_batch('worker', json_build_array(json_build_object('id', r.id, 'lease', r.lease, 'retry_in', 0))) as f),
          'a replaced job that fails in a batch is permanently failed')
  from retired as r where r.key = 'fail later';
select ok((select (b.id, b.state, b.attempts, b.max_attempts) = (r.id, 'failed', 3, 3) from return_job('worker', r.id, r.lease) as b),
  'a replaced job that is returned is permanently failed')
  from retired as r where r.key = 'return';
select ok((select (b.id, b.state, b.attempts, b.max_attempts) = (r.id, 'failed', 3, 3) from return_job_batch('worker', array[r.id], array[r.lease]) as b),
  'a replaced job that is returned in a batch is permanently failed')
  from retired as r where r.key = 'return later';
update _private_jobs set locked_at = now() - interval '5 hours' where locked_by is not null;
update _gw_workers set last_seen_at = now() - interval '5 hours';
select is(reset_stale_locks(), 1::bigint, 'a replaced job with a stale lock is reset');

select is_empty($$ select id from get_job_batch('worker', '{task}', 9) $$, 'no replaced job can be claimed again');
select results_eq(
  $$ select distinct j.attempts, j.max_attempts, j.locked_by, j.is_available
       from _private_jobs as j
       join retired as r on r.id = j.id $$,
  $$ values (3::smallint, 3::smallint, null::text, false) $$,
  'the replaced jobs that were not completed have failed permanently');
select is((select count(*) from _private_jobs as j join retired as r on r.id = j.id), 5::bigint,
          'only the completed one of the replaced jobs is deleted');

select * from finish();
rollback;
