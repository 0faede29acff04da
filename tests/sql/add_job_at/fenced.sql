-- A call that names a slot works only in the shard that has the slot.
begin;
select plan(27);
set local search_path = graphile_worker, public;

select is(shard_slot('tenant-42'), 247::smallint, 'a slot is the first byte of the hash of the shard key');
select is(shard_slot(null), null, 'no key has no slot');
select is(shard_name(), null, 'a database is no shard');
select throws_ok($$ select add_job_at(3, 'task') $$, 'GWSNS', 'This database is not a shard.', 'so it has no slots');

-- The slots 0 to 127 are here, the others in shard b.
select ok(_gw_join_shards('a', array(select case when n < 128 then 'a' else 'b' end from generate_series(0, 255) as n order by n)), 'it becomes a shard');
select is(_gw_join_shards('a', array(select 'b' from generate_series(0, 255))), false, 'a second call is not the first');
select results_eq(
  $$ select shard, min(slot)::int, max(slot)::int, count(*)::int, min(version), min(state), max(state) from list_shard_slots() group by shard order by shard $$,
  $$ values ('a', 0, 127, 128, 1, 'here', 'here'), ('b', 128, 255, 128, 1, 'away', 'away') $$,
  'and changes nothing');
select is(shard_name(), 'a', 'it knows its name');
select throws_ok($$ select _gw_join_shards('b', array(select 'b' from generate_series(0, 255))) $$, 'GWSJN', 'This database is the shard a, not b.', 'and keeps it');

select lives_ok($$ select add_job_at(127, 'task') $$, 'a job of a slot of this shard is added');
select throws_ok($$ select add_job_at(128, 'task') $$, 'GWSLT', 'Slot 128 is not in shard a, but in shard b, since version 1 of the slot.', 'one of another shard is refused');
select throws_ok($$ select add_job_at(256, 'task') $$, 'GWSNS', 'There is no slot 256.', 'there are 256 slots');
select throws_ok($$ select add_job_at(null, 'task') $$, 'GWSNS', 'There is no slot null.', 'null is none of them');
select throws_ok($$ select add_jobs_at(128, array[('task', '{}', null, null, null, null, null, null)::job_spec]) $$, 'GWSLT', null, 'add_jobs_at checks it, too');
select throws_ok($$ select remove_job_at(128, 'k') $$, 'GWSLT', null, 'and remove_job_at');
select throws_ok($$ select add_job_once_at(128, 'task', key => 'k') $$, 'GWSLT', null, 'and add_job_once_at');
select throws_ok($$ select debounce_job_at(128, 'task', key => 'k', wait => '1 s') $$, 'GWSLT', null, 'and debounce_job_at');
select throws_ok($$ select throttle_job_at(128, 'task', key => 'k', every => '1 s') $$, 'GWSLT', null, 'and throttle_job_at');
select throws_ok(format($$ select cron_schedule(%L, '* * * * *', 'task') $$, 'tenant-42'), 'GWSLT', null, 'and cron_schedule, by the identifier');

-- Names whose slot is not that of their hash are recorded, as long as they are used.
select add_job_at(shard_slot('a2')::int % 128, 'task', queue_name => 'tenant-42', job_key => 'tenant-42-1');
select results_eq($$ select kind, name, slot::int from _gw_shard_names order by kind $$,
  format($$ values ('key', 'tenant-42-1', %1$s), ('queue', 'tenant-42', %1$s) $$, shard_slot('a2') % 128), 'the slot of a shard key is recorded');
select add_jobs_at(5, array[('task', '{}', 'tenant-42', null, null, 'tenant-42-1', null, null)::job_spec]);
select results_eq($$ select kind, name, slot::int from _gw_shard_names order by kind $$,
  $$ values ('key', 'tenant-42-1', 5), ('queue', 'tenant-42', 5) $$, 'the last one counts');
select _gw_drop_spent();
select is((select count(*)::int from _gw_shard_names), 2, 'names in use are kept');
select results_eq($$ select slot::int, id from _gw_jobs_of_slots('{5}') $$, $$ select 5, id from jobs where queue_name = 'tenant-42' $$, 'the job is found by its slot');
select isnt((remove_job_at(5, 'tenant-42-1')).id, null, 'the job is removed');
select _gw_drop_spent();
select is((select count(*)::int from _gw_shard_names), 0, 'then they are deleted');

-- A slot that is being moved takes no jobs.
select _gw_leave_shard_slots('{7}', 'b');
select throws_ok($$ select add_job_at(7, 'task') $$, 'GWSMV', 'Slot 7 is being moved from shard a to shard b.', 'a slot that is being moved takes no jobs');
select _gw_keep_shard_slots('{7}');
select lives_ok($$ select add_job_at(7, 'task') $$, 'until the move is given up');

select * from finish();
rollback;
