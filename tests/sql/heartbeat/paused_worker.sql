-- A worker that was considered dead learns from its next heartbeat which jobs it has lost, and continues.
begin;
select plan(8);
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

select register_worker('paused');
select add_job('task', job_key => 'lost', queue_name => 'q');
create temp table claimed as select * from get_job('paused');
select pg_temp.kill('paused');
update claimed set lease = lease - 120000000;
select * from pg_temp.beat() as b (died text[], freed bigint);
select add_job('task', job_key => 'new');
insert into claimed select * from get_job('paused');

select results_eq(
  $$ select registered, held_ids, held_leases
       from heartbeat('paused', array(select id from claimed order by id), array(select lease from claimed order by id)) $$,
  $$ select true, array[id], array[lease] from claimed where key = 'new' $$,
  'it still holds its later claims');
select ok(not complete_job('paused', id, lease), 'no outcome of the lost job is taken') from claimed where key = 'lost';
select ok(not exists (select from fail_job('paused', id, 'late', lease)), 'no failure') from claimed where key = 'lost';
select ok(not exists (select from return_job('paused', id, lease)), 'no return') from claimed where key = 'lost';
select ok(recovered_at is null and beating_since = last_seen_at, 'it counts as alive, and may not judge at once')
  from _gw_workers where id = 'paused';
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'others see that it lives');
select pg_temp.kill('paused');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{paused}'::text[], 1::bigint) $$,
                  'until it dies in earnest');
select is((select count(*) from _private_jobs where locked_at is not null), 0::bigint, 'which frees what it held at that time');

select * from finish();
rollback;
