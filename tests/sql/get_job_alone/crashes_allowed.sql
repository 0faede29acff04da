-- The allowed number of crashes of a job is a setting.
begin;
select plan(2);
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
select set_setting('recovered_jobs', 'run');

select set_setting('crashes_allowed', '1');
select register_worker('w0');
select add_job('task');
select get_job('w0');
select pg_temp.kill('w0');
select * from pg_temp.beat() as b (died text[], freed bigint);
select ok(is_available, 'the first was not alone') from _private_jobs;
select register_worker('w1');
select get_job_alone('w1');
select pg_temp.kill('w1');
select * from pg_temp.beat() as b (died text[], freed bigint);
select ok(not is_available, 'the second was') from _private_jobs;

select * from finish();
rollback;
