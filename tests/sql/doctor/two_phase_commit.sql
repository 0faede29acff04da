-- Where transactions may commit in two phases, doctor() says that add_job must not notify.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select is_empty(
  $$ select * from _gw_find_two_phase_commit(prepared => 0, has_citus => false) $$,
  'without prepared transactions and citus there is nothing to say');
select results_eq(
  $$ select severity, finding, subject, detail like 'max_prepared_transactions is 7, %' from _gw_find_two_phase_commit(7, false) $$,
  $$ values ('info', 'two-phase commit', 'setting notify', true) $$,
  'the number of prepared transactions is reported');
select matches(
  (select detail from _gw_find_two_phase_commit(0, true)), '^The extension citus is installed', 'so is citus');
select results_eq(
  $$ select finding from doctor() $$,
  $$ select 'two-phase commit' where current_setting('max_prepared_transactions')::integer > 0 $$,
  'doctor() asks the server');

do $$ begin execute (select split_part(remedy, e'\n', 2) from _gw_find_two_phase_commit(7, false)); end $$;
select is_empty($$ select * from _gw_find_two_phase_commit(7, true) $$, 'after the remedy there is nothing to say');
select set_setting('notify', 'idle');
select is_empty($$ select * from _gw_find_two_phase_commit(7, true) $$, 'idle is a choice of its own');

select * from finish();
rollback;
