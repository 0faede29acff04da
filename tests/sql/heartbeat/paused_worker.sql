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
  'a worker that was considered dead still holds its later claims');
select ok(not complete_job('paused', id, lease),
  'a lost job cannot be completed by its former worker') from claimed where key = 'lost';
select ok(not exists (select from fail_job('paused', id, 'late', lease)),
  'a lost job cannot fail by its former worker') from claimed where key = 'lost';
select ok(not exists (select from return_job('paused', id, lease)),
  'a lost job cannot be returned by its former worker') from claimed where key = 'lost';
select ok(recovered_at is null and beating_since = last_seen_at,
  'a worker that beats again counts as alive, and does not judge others at once')
  from _gw_workers where id = 'paused';
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{}'::text[], 0::bigint) $$,
                  'other workers do not recover a worker that beats again');
select pg_temp.kill('paused');
select results_eq($$ select * from pg_temp.beat() as b (died text[], freed bigint) $$, $$ values ('{paused}'::text[], 1::bigint) $$,
                  'a worker that falls silent again is recovered');
select is((select count(*) from _private_jobs where locked_at is not null), 0::bigint,
  'the recovery frees the jobs that the worker has claimed since');

select * from finish();
rollback;
