-- A role that has rights to the tables of Graphile Worker only, as Node workers have, frees jobs of a limit with their attempts.
begin;
select plan(2);
set local search_path = graphile_worker, public;

create role gw_test_node;
grant usage on schema graphile_worker to gw_test_node;
grant select, insert, update, delete on _private_jobs, _private_job_queues, _private_tasks to gw_test_node;
create policy gw_test_node on _private_jobs to gw_test_node using (true);
create policy gw_test_node on _private_job_queues to gw_test_node using (true);
create policy gw_test_node on _private_tasks to gw_test_node using (true);
select _gw_share_rights();

select set_limit('calls', tasks => '{call}', max_running => 2);
select get_job_batch('worker') from generate_series(1, 3);
select add_job('call') from generate_series(1, 6);
select is((select count(*) from get_job_batch('worker', batch_size => 6, queue_batch => 3)), 6::bigint, 'a claim has more jobs than slots');
set local role gw_test_node;
select force_unlock_workers('{worker}');
reset role;
select is((select array_agg(attempts::integer order by id) from _private_jobs where locked_at is null), '{1,0,0,0,0,0}', 'only the first one was started');

select * from finish();
rollback;
