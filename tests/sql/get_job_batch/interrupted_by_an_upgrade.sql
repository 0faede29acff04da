-- A claim by the function of 0.1.0 may still run when an upgrade commits. It goes on with the functions of the upgrade.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select add_job('task');
select is(cardinality(_gw_lock_jobs('worker', null, 1, null, null, now(), now(), 1000)), 1, 'it locks its job');

select * from finish();
rollback;
