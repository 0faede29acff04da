-- An older snapshot does not show which names are in use, so cleanup requires READ COMMITTED.
begin isolation level repeatable read;
select plan(1);
set local search_path = graphile_worker, public;

select throws_ok(
  $$ select cleanup('{GC_JOB_QUEUES}') $$,
  'GWCIS', 'cleanup() must run at READ COMMITTED, not REPEATABLE READ.');

select * from finish();
rollback;
