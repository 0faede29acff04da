-- A worker that was considered dead learns from its next heartbeat which jobs it has lost, and continues.
begin;
select plan(8);
set local search_path = graphile_worker, public;

\ir ../keeper.psql

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
