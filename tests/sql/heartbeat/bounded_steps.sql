-- One heartbeat reads a limited number of jobs, and requests the next heartbeat at once; the last one frees those of the dead worker.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select set_setting('dead_after', '1 minute');
select register_worker('dead');
select add_job('task', job_key => k, queue_name => 'q' || k) from unnest(array['1', '2', '3', '4', '5']) as k;
select get_job_batch('dead', batch_size => 9);
update _private_jobs set locked_at = locked_at - interval '2 minutes';
update _private_job_queues set locked_at = locked_at - interval '2 minutes';
insert into _private_job_queues (queue_name, locked_by, locked_at) values ('without its job', 'dead', now() - interval '2 minutes');
update _gw_workers set last_seen_at = now() - interval '2 minutes';

select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{}'::text[], 0::bigint, true) $$,
  'the first step reads two jobs and frees none');
select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{}'::text[], 0::bigint, true) $$,
  'the second step reads the next two jobs and frees none');
select is((select count(*) from _private_jobs where locked_at is null), 0::bigint,
  'no job is freed before the last step');
select ok(recovered_at is null,
  'the worker is not marked as recovered before the last step') from _gw_workers where id = 'dead';
select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{dead}'::text[], 5::bigint, false) $$,
  'the last step frees all five jobs');
select ok(bool_and(is_available),
  'all queues of the dead worker are free, with and without a job') from _private_job_queues;
select is_empty($$ select workers from _gw_recovery $$, 'no pass is left after the last step');
select ok(recovered_at is not null,
  'the worker is marked as recovered after the last step') from _gw_workers where id = 'dead';

select * from finish();
rollback;
