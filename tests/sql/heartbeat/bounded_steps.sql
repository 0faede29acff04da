-- One heartbeat frees a limited number of a dead worker's jobs, and requests the next heartbeat at once.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select set_setting('dead_after', '1 minute');
select register_worker('dead');
select add_job('task', job_key => k, queue_name => 'q' || k) from unnest(array['1', '2', '3', '4', '5']) as k;
select get_job_batch('dead', batch_size => 9);
update _private_jobs set locked_at = locked_at - interval '2 minutes';
update _private_job_queues set locked_at = locked_at - interval '2 minutes';
insert into _private_job_queues (queue_name, locked_by, locked_at) values ('without its job', 'dead', now() - interval '2 minutes');
update _gw_workers set last_seen_at = now() - interval '2 minutes';

select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{}'::text[], 2::bigint, true) $$, 'the first two');
select set_eq($$ select key from _private_jobs where locked_at is null $$, array['1', '2'], 'in order');
select set_eq($$ select queue_name from _private_job_queues where locked_at is null $$, array['q1', 'q2'], 'with their queues');
select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{}'::text[], 2::bigint, true) $$, 'the next two');
select ok(recovered_at is null, 'the worker is not done') from _gw_workers where id = 'dead';
select results_eq($$ select * from _gw_recover_workers('1 minute', 2) $$, $$ values ('{dead}'::text[], 1::bigint, false) $$, 'the last one');
select ok(bool_and(is_available), 'queues without a job of the worker are free, too') from _private_job_queues;
select is_empty($$ select workers from _gw_recovery $$, 'the pass is over');
select ok(recovered_at is not null, 'and the worker is done') from _gw_workers where id = 'dead';

select * from finish();
rollback;
