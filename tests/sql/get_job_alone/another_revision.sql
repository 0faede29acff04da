-- A job that is replaced by its key is no longer a suspect.
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

select register_worker('dead');
select add_job('task', '1', job_key => 'key');
select get_job('dead');
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
select add_job('task', '2', job_key => 'key', run_at => now());
select results_eq($$ select payload::text from get_job_batch('worker') $$, array['2'], 'it is claimed as any other');
select * from pg_temp.beat() as b (died text[], freed bigint);
select is_empty($$ select job_id from _gw_suspects $$, 'there are no suspects any more');

select * from finish();
rollback;
