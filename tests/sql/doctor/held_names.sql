-- Sessions that hold the advisory locks of names for long are reported.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select is_empty($$ select * from _gw_find_held_names() $$, 'nothing is reported while no session holds names');
select pg_advisory_lock_shared(_gw_name_lock('task', 'a'));
select is_empty($$ select * from _gw_find_held_names() $$, 'shared locks of producers are not reported');
select pg_advisory_lock(7239152::bigint * 4294967296 + n) from generate_series(0, 127) as n;
select is_empty($$ select * from _gw_find_held_names() $$, 'all locks of a cleanup of this moment are not reported');

-- The lock is looked for where queries of a minute ago are not known: as a role that may not see them.
create role gw_test_blind;
grant usage on schema graphile_worker to gw_test_blind;
set local role gw_test_blind;
select results_eq(
  $$ select h.severity, h.finding, h.subject, h.detail like 'Role %, has locked 128 of the 128 advisory locks %' from _gw_find_held_names() as h $$,
  $$ values ('warning', 'held names', 'session ' || pg_backend_pid(), true) $$,
  'a session that holds all locks of names for an unknown time is reported');
reset role;
select pg_advisory_unlock_all();

select * from finish();
rollback;
