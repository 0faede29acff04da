-- doctor() does not fail on a damaged schema: it reports what it could not examine, and all other findings.
begin;
select plan(3);
set local search_path = graphile_worker, public;

insert into _gw_settings (name, value) values ('old_snapshot_after', 'soon');
drop table _gw_workers cascade;
insert into _private_job_queues (queue_name, locked_at, locked_by) values ('queue', now(), 'worker');

select set_eq(
  $$ select finding, subject from doctor() $$,
  $$ values ('not examined', 'function _gw_find_old_snapshots'),
            ('not examined', 'function _gw_find_stale_locks'),
            ('not examined', 'function _gw_find_held_queues'),
            ('not examined', 'function _gw_find_drained_workers'),
            ('not examined', 'function _gw_find_no_worker'),
            ('not examined', 'function _gw_find_unknown_tasks'),
            ('not examined', 'function _gw_find_future_times'),
            ('not examined', 'function _gw_find_late_schedules'),
            ('orphaned queue', 'queue queue') $$,
  'doctor() reports what it could not examine, and all other findings');
select is(
  (select detail from doctor() where subject = 'function _gw_find_stale_locks'),
  'relation "graphile_worker._gw_workers" does not exist.',
  'the finding says why it could not be examined');

set local transaction_read_only = on;
select isnt_empty($$ select * from doctor() $$, 'doctor() works in a read-only transaction');

select * from finish();
rollback;
