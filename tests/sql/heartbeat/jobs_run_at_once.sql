-- With recovered_jobs = run, jobs of dead workers are due at once.
begin;
select plan(1);
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
select add_job('task', job_key => 'past', run_at => now() - interval '1 hour'),
       add_job('task', job_key => 'future', run_at => now() + interval '1 hour');
select get_job_batch('dead', batch_size => 9, now => now() + interval '2 hours');
select pg_temp.kill('dead');
select * from pg_temp.beat() as b (died text[], freed bigint);
select set_eq($$ select key, run_at from _private_jobs $$,
              $$ values ('past', now()), ('future', now() + interval '1 hour') $$,
              'they are due at once, unless they were due later anyway');

select * from finish();
rollback;
