-- A heartbeat returns the worker's canceled jobs until they no longer run.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select register_worker('me'), register_worker('you');
select add_job('mine', job_key => n::text) from generate_series(1, 3) as n;
select add_job('yours');
create temp table claimed as select * from get_job_batch('me', '{mine}', 3);
create temp table theirs as select * from get_job('you', '{yours}');
select results_eq($$ select canceled_ids, reasons from heartbeat('me') $$, $$ values ('{}'::bigint[], '{}'::text[]) $$, 'nothing, most of the time');

select cancel_jobs(array(select id from claimed where key = '1'), 'wrong customer');
select cancel_jobs(array(select id from claimed where key = '2'));
select results_eq(
  $$ select u.id, u.reason
       from heartbeat('me', array(select id from claimed order by id), array(select lease from claimed order by id)) as b
      cross join unnest(b.canceled_ids, b.reasons) as u (id, reason)
      order by u.id $$,
  $$ select id, case key when '1' then 'wrong customer' else '' end from claimed where key in ('1', '2') order by id $$,
  'which, and why');
select results_eq(
  $$ select cardinality(held_ids) from heartbeat('me', array(select id from claimed), array(select lease from claimed)) $$, array[3],
  'their leases are still held');
select results_eq($$ select cardinality(canceled_ids) from heartbeat('me') $$, array[2], 'also of jobs that it does not ask for');
select results_eq($$ select canceled_ids from heartbeat('you') $$, $$ values ('{}'::bigint[]) $$, 'other workers do not get them');
select add_job('mine', job_key => '2');
select results_eq($$ select cardinality(canceled_ids) from heartbeat('me') $$, array[2], 'one that is replaced by its key is still canceled');
select fail_job('me', id, 'cut') from claimed where key = '1';
select complete_job('me', id) from claimed where key = '2';
select results_eq($$ select canceled_ids from heartbeat('you') $$, $$ values ('{}'::bigint[]) $$, 'when they have ended, any beat');
select is_empty($$ select job_id from _gw_cancels $$, 'deletes the row in _gw_cancels');

select * from finish();
rollback;
