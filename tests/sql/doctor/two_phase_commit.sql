-- Where transactions may commit in two phases, doctor() says that add_job must not notify.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select is_empty(
  $$ select * from _gw_find_two_phase_commit(prepared => 0, has_citus => false) $$,
  'nothing is reported without prepared transactions and citus');
select results_eq(
  $$ select severity, finding, subject, detail like 'max_prepared_transactions is 7, %' from _gw_find_two_phase_commit(7, false) $$,
  $$ values ('info', 'two-phase commit', 'setting notify', true) $$,
  'the number of prepared transactions is reported');
select matches(
  (select detail from _gw_find_two_phase_commit(0, true)), '^The extension citus is installed',
  'the extension citus is reported');
select results_eq(
  $$ select finding from doctor() $$,
  $$ select 'two-phase commit' where current_setting('max_prepared_transactions')::integer > 0 $$,
  'doctor() reports what the server has');

do $$ begin execute (select split_part(remedy, e'\n', 2) from _gw_find_two_phase_commit(7, false)); end $$;
select is_empty($$ select * from _gw_find_two_phase_commit(7, true) $$, 'nothing is reported after the remedy');
select set_setting('notify', 'idle');
select is_empty($$ select * from _gw_find_two_phase_commit(7, true) $$,
  'nothing is reported if notify was set to idle');

select * from finish();
rollback;
