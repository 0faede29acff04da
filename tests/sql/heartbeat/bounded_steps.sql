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

select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{}'::text[], 0::bigint, true) $$, 'reads two');
select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{}'::text[], 0::bigint, true) $$, 'the next two');
select is((select count(*) from _private_jobs where locked_at is null), 0::bigint, 'which are not freed yet');
select ok(recovered_at is null, 'the worker is not done') from _gw_workers where id = 'dead';
select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{dead}'::text[], 5::bigint, false) $$, 'all five are freed');
select ok(bool_and(is_available), 'queues without a job of the worker are free, too') from _private_job_queues;
select is_empty($$ select workers from _gw_recovery $$, 'the pass is over');
select ok(recovered_at is not null, 'and the worker is done') from _gw_workers where id = 'dead';

select * from finish();
rollback;
