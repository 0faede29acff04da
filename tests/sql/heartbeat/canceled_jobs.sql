-- A heartbeat returns the worker's canceled jobs until they no longer run.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select register_worker('me'), register_worker('you');
select add_job('mine', job_key => n::text) from generate_series(1, 3) as n;
select add_job('yours');
create temp table claimed as select * from get_job_batch('me', '{mine}', 3);
create temp table theirs as select * from get_job('you', '{yours}');
select results_eq($$ select canceled_ids, reasons from heartbeat('me') $$, $$ values ('{}'::bigint[], '{}'::text[]) $$,
  'a heartbeat returns no canceled jobs if there are none');

select cancel_jobs(array(select id from claimed where key = '1'), 'wrong customer');
select cancel_jobs(array(select id from claimed where key = '2'));
select results_eq(
  $$ select u.id, u.reason
       from heartbeat('me', array(select id from claimed order by id), array(select lease from claimed order by id)) as b
      cross join unnest(b.canceled_ids, b.reasons) as u (id, reason)
      order by u.id $$,
  $$ select id, case key when '1' then 'wrong customer' else '' end from claimed where key in ('1', '2') order by id $$,
  'a heartbeat returns the canceled jobs of the worker with their reasons');
select results_eq(
  $$ select cardinality(held_ids) from heartbeat('me', array(select id from claimed), array(select lease from claimed)) $$, array[3],
  'the worker still holds its canceled jobs');
select results_eq($$ select cardinality(canceled_ids) from heartbeat('me') $$, array[2],
  'a heartbeat returns canceled jobs that it does not ask for');
select results_eq($$ select canceled_ids from heartbeat('you') $$, $$ values ('{}'::bigint[]) $$,
  'a heartbeat of another worker does not return them');
select add_job('mine', job_key => '2');
select results_eq($$ select cardinality(canceled_ids) from heartbeat('me') $$, array[2],
  'a canceled job that is replaced by its key is still returned');
select fail_job('me', id, 'cut') from claimed where key = '1';
select complete_job('me', id) from claimed where key = '2';
select results_eq($$ select canceled_ids from heartbeat('you') $$, $$ values ('{}'::bigint[]) $$,
  'a heartbeat of another worker returns no canceled jobs after they have ended');
select is_empty($$ select job_id from _gw_cancels $$, 'a heartbeat deletes the rows of canceled jobs that have ended');

select * from finish();
rollback;
