-- An expiry that would free all locks is refused.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select throws_ok($$ select reset_stale_locks('0') $$, 'GWWEX', 'Expiry must be a positive interval, not 00:00:00.');
select throws_ok($$ select reset_stale_locks('-1 hour') $$, 'GWWEX', 'Expiry must be a positive interval, not -01:00:00.');
select throws_ok($$ select reset_stale_locks(null) $$, 'GWWEX', 'Expiry must be a positive interval, not null.');

select * from finish();
rollback;
