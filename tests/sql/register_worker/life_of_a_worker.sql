-- A worker registers, sends heartbeats and unregisters; registering again updates its row.
begin;
select plan(10);
set local search_path = graphile_worker, public;

select register_worker('worker', '{a,b}', 4, 'host', 123, '1.0');
select results_eq(
  $$ select tasks, concurrency, host, pid, version from _gw_workers where id = 'worker' $$,
  $$ values ('{a,b}'::text[], 4, 'host', 123, '1.0') $$,
  'the attributes of a worker are stored');
select register_worker('odd', '{{a,b},{c,null}}');
select is((select tasks from _gw_workers where id = 'odd'), '{a,b,c}',
  'the tasks of a worker are stored as a one-dimensional array');
select register_worker('plain');
select results_eq(
  $$ select tasks, concurrency, host, pid, version from _gw_workers where id = 'plain' $$,
  $$ values ('{}'::text[], 1, null::text, null::integer, null::text) $$,
  'a worker can register with its id only');

update _gw_workers set started_at = now() - interval '1 day', last_seen_at = now() - interval '1 day';
select ok(registered, 'a heartbeat of a registered worker says that it is registered') from heartbeat('worker');
select results_eq(
  $$ select last_seen_at between now() and clock_timestamp(), started_at from _gw_workers where id = 'worker' $$,
  $$ values (true, now() - interval '1 day') $$,
  'a heartbeat updates last_seen_at');

select register_worker('worker', null, 5);
select results_eq(
  $$ select tasks, concurrency, host, started_at, last_seen_at > started_at from _gw_workers where id = 'worker' $$,
  $$ values ('{}'::text[], 5, null::text, now() - interval '1 day', true) $$,
  'registering again replaces everything except the time of its start');

select set_setting('notify', 'idle');
select fall_asleep('worker');
select ok(deregister_worker('worker'), 'a registered worker can unregister');
select is_empty($$ select worker_id from _gw_sleepers $$, 'a worker that unregisters has no mark that it sleeps');
select ok(not deregister_worker('worker'), 'a worker cannot unregister twice');
select ok(not registered,
  'a heartbeat of a worker that has unregistered says that it is not registered') from heartbeat('worker');

select * from finish();
rollback;
