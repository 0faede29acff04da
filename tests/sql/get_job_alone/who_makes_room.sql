-- A beat says that a job waits to run alone to all that run its task, and to one of them to make room for it.
begin;
select plan(7);
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

select register_worker('a', '{other}'), register_worker('b', '{task}'), register_worker('c', '{task}'), register_worker('d', '{task}');
select add_job('task', job_key => 'suspect');
insert into _gw_suspects (job_id, revision) select id, revision from _private_jobs;
create function pg_temp.told(worker text) returns text language sql as $$
  select case when alone_waits then 'waits' else 'none' end || case when make_room then ', make room' else '' end from heartbeat(worker)
$$;

select is(pg_temp.told('a'), 'none', 'not to one that does not run the task');
select is(pg_temp.told('b'), 'waits, make room', 'one has to make room');
select is(pg_temp.told('c'), 'waits', 'the others need not');
update _gw_workers set last_seen_at = now() - interval '2 minutes' where id in ('b', 'keeper');
select is(pg_temp.told('c'), 'waits, make room', 'if that one is silent, the next has to');
update _private_jobs set run_at = now() + interval '1 hour';
select is(pg_temp.told('c'), 'none', 'a job that is not due need not have room');
update _private_jobs set run_at = now();
select get_job_alone('d');
select is(pg_temp.told('c'), 'none', 'nor one that runs');
select is_empty($$ select job_id from _gw_suspects where worker_id is distinct from 'd' $$, 'it is still suspected');

select * from finish();
rollback;
