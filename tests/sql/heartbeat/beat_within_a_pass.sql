-- A worker that sends a heartbeat while others recover it keeps its jobs.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select set_setting('dead_after', '1 minute');
select register_worker('slow');
select add_job('task', job_key => k) from unnest(array['1', '2', '3']) as k;
select get_job_batch('slow', batch_size => 9);
update _private_jobs set locked_at = locked_at - interval '2 minutes';
update _gw_workers set last_seen_at = now() - interval '2 minutes';

select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{}'::text[], 0::bigint, true) $$,
  'a step of the recovery reads two of the three jobs');
select heartbeat('slow');
select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{}'::text[], 0::bigint, false) $$,
  'a step frees no job of a worker that has sent a heartbeat');
select results_eq($$ select key from _private_jobs where locked_by = 'slow' order by id $$, array['1', '2', '3'],
  'a worker that has sent a heartbeat keeps its jobs');

select * from finish();
rollback;
