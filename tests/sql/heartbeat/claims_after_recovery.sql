-- Jobs that a recovered worker claims before it dies again, without a heartbeat in between, are found by the sweep and
-- recovered.
begin;
select plan(3);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

select register_worker('dead');
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
select add_job('task');
select get_job('dead');
select pg_temp.kill('dead');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'a worker that was recovered before is not recovered again without a sweep');
select stale_sweep();
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 1::bigint) $$,
                  'a worker that was recovered before is recovered again after a sweep');
select ok(locked_at is null, 'the job of the worker is free') from _private_jobs;

select * from finish();
rollback;
