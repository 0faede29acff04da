-- Jobs and queues of workers that are not registered, such as those of Node, are not recovered: they keep their four hours.
begin;
select plan(3);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select add_job('task', queue_name => 'q');
select get_job('pool-node');
update _private_jobs set locked_at = now() - interval '3 hours 59 minutes';
update _private_job_queues set locked_at = now() - interval '3 hours 59 minutes';
select register_worker('dead');
select pg_temp.kill('dead');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 0::bigint) $$,
                  'a worker is found dead, and frees no job of another worker');
select is(stale_sweep(), 0::bigint, 'the sweep frees no job of a worker that is not registered');
select is((select locked_by from _private_jobs) || (select locked_by from _private_job_queues), 'pool-nodepool-node',
          'the job and the queue are still locked by their worker');

select * from finish();
rollback;
