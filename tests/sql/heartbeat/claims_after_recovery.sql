-- Jobs that a recovered worker claims before it dies again, without a heartbeat in between, are found by the sweep and
-- recovered.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select set_setting('dead_after', '1 minute');
create or replace function _gw_serving_since() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$;
select register_worker('keeper');
-- A beat of a worker that has beaten for longer than dead_after.
create function pg_temp.beat() returns setof record language sql as $$
  update _gw_workers set last_seen_at = clock_timestamp(), beating_since = clock_timestamp() - interval '2 minutes' where id = 'keeper';
  select died, freed from heartbeat('keeper')
$$;
-- Makes a worker silent for longer than that, and its claims as old.
create function pg_temp.kill(worker text) returns void language sql as $$
  update _gw_workers set last_seen_at = clock_timestamp() - interval '2 minutes' where id = worker;
  update _private_jobs set locked_at = locked_at - interval '2 minutes' where locked_by = worker;
  update _private_job_queues set locked_at = locked_at - interval '2 minutes' where locked_by = worker;
$$;

select register_worker('dead');
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
select add_job('task');
select get_job('dead');
select pg_temp.kill('dead');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'the worker was recovered before');
select stale_sweep();
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{dead}'::text[], 1::bigint) $$,
                  'once more after the sweep');
select ok(locked_at is null, 'the job is free') from _private_jobs;

select * from finish();
rollback;
