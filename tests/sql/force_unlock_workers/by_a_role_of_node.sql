-- A role that has rights to the tables of Graphile Worker only, as Node workers have, frees jobs of queues and of
-- limits.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create role gw_test_node;
grant usage on schema graphile_worker to gw_test_node;
grant select, insert, update, delete on _private_jobs, _private_job_queues, _private_tasks to gw_test_node;
create policy gw_test_node on _private_jobs to gw_test_node using (true);
create policy gw_test_node on _private_job_queues to gw_test_node using (true);
create policy gw_test_node on _private_tasks to gw_test_node using (true);
select _gw_share_rights();

select add_job('task', queue_name => 'queue') from generate_series(1, 3);
select get_job_batch('worker', batch_size => 3, queue_batch => 3);
insert into _gw_limit_changes default values;
insert into _gw_limits (id, name, max_running, generation) overriding system value values (1, 'limit', 1, 1);
insert into _gw_gates (id, limit_id) overriding system value values (1, 1);
insert into _gw_lanes (id, task_id, generation, gates, gate) values (-16, 1, 1, '{1}', 0);
insert into _private_jobs (task_id, job_queue_id, locked_at, locked_by, attempts) values (1, -16, now(), 'worker', 1);
set local role gw_test_node;
select force_unlock_workers('{worker}');
reset role;
select is((select array_agg(attempts::integer order by id) from _private_jobs where locked_at is null), '{1,0,0,1}',
          'only the first job of the queue, and the one without a queue, count an attempt');
select is((select array_agg(jobs) from _gw_gate_ends where gate_id = 1), '{1}',
  'the end of the unlocked job is stored for its gate');
select is((select count(*) from _private_job_queues where locked_at is null), 1::bigint,
  'the queue of the unlocked jobs is free');

select * from finish();
rollback;
