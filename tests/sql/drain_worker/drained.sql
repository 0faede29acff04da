-- drain_worker() tells a worker with its next heartbeat to claim no more jobs; nothing counts it as a worker of its tasks meanwhile.
begin;
select plan(16);
set local search_path = graphile_worker, public;

select register_worker('a', '{mail}'), register_worker('b', '{other}');
select is((select drained from heartbeat('a')), false, 'a worker is not drained at first');
select is(drain_worker('nobody'), false, 'a worker that is not registered cannot be drained');
select is(drain_worker('a'), true, 'a registered worker can be drained');
select is((select drained from heartbeat('a')), true, 'the next heartbeat tells the worker that it is drained');
select is((select drained from heartbeat('b')), false, 'other workers are not drained');
select results_eq($$ select act, subject from list_audit() $$, $$ values ('drain', 'a') $$,
  'the audit shows the call of drain_worker()');

select add_job('mail');
select set_eq($$ select worker_id, state from list_workers() $$, $$ values ('a', 'drained'), ('b', 'working') $$,
  'a drained worker is listed as drained');
select is((select workers from list_tasks() where task_identifier = 'mail'), 0::bigint,
  'a drained worker is not counted as a worker of its tasks');
select matches((select detail from why((select max(id) from jobs)) where reason = 'no worker'), 'a did, and is drained since',
  'why() says that the worker of the task is drained');
select is_empty($$ select * from doctor() where finding = 'drained worker' $$,
  'doctor() does not report a worker that was drained less than a minute ago');
update _gw_workers set drained_at = now() - interval '2 minutes' where id = 'a';
select results_eq(
  $$ select severity, subject, command from doctor() where finding = 'drained worker' $$,
  $$ values ('warning', 'worker a', 'select graphile_worker.drain_worker(''a'', false);') $$,
  'doctor() reports a worker that was drained two minutes ago while jobs wait');
select drain_worker('a');
select is((select drained_at = now() - interval '2 minutes' from _gw_workers where id = 'a'), true,
  'draining a worker again does not change the time since when it is drained');
select register_worker('a', '{mail}');
select is((select drained from heartbeat('a')), true, 'a worker that registers again stays drained');
update _private_jobs set locked_at = now(), locked_by = 'a';
select is((select state from list_workers() where worker_id = 'a'), 'draining',
  'a drained worker is draining while it holds a job');

select is(drain_worker('a', false), true, 'drain_worker() with false lets the worker claim again');
select is((select drained from heartbeat('a')), false, 'the heartbeat tells the worker that it is no longer drained');

select * from finish();
rollback;
