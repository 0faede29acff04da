-- While Node workers hold jobs or queues, a queue keeps its indexes. Workers that call the functions, with names of their
-- own, do not count.
begin;
select plan(9);
set local search_path = graphile_worker, public;

select add_job('task'), add_job('task', queue_name => 'queue');
select get_job('reporting-7'); -- does not register
select ok(_gw_tune(false), 'a worker that calls get_job without being registered does not need the indexes');
select ok(_gw_tune(true), 'back');

update _private_jobs set locked_by = 'pool-0123456789abcdef01' where locked_by is not null;
prepare without_node as select _gw_tune(false);
select throws_like('without_node', 'Node workers use this queue: pool-0123456789abcdef01 holds jobs or queues, the latest since %.', 'a pool');
select throws_ok('without_node', 'GWNWS', null, 'with a code');
update _private_jobs set locked_by = 'worker-0123456789abcdef01' where locked_by is not null;
select throws_ok('without_node', 'GWNWS', null, 'a worker of Graphile Worker before 0.17');
select ok(not _gw_tune(true), 'its indexes are there');

update _private_jobs set locked_by = null, locked_at = null;
update _private_job_queues set locked_by = 'otpool-0123456789abcdef01', locked_at = now();
select throws_ok('without_node', 'GWNWS', null, 'a worker that holds a queue');
select force_unlock_workers(array['otpool-0123456789abcdef01']);
select ok(_gw_tune(false), 'after its locks are freed');
update _private_job_queues set locked_by = 'otpool-0123456789abcdef01', locked_at = now();
select ok(not _gw_tune(false), 'a queue that has the indexes already keeps them');

select * from finish();
rollback;
