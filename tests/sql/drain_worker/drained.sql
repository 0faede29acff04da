-- drain_worker() tells a worker with its next heartbeat to claim no more jobs; nothing counts it as a worker of its tasks meanwhile.
begin;
select plan(16);
set local search_path = graphile_worker, public;

select register_worker('a', '{mail}'), register_worker('b', '{other}');
select is((select drained from heartbeat('a')), false, 'a worker is not drained at first');
select is(drain_worker('nobody'), false, 'a worker that is not registered cannot be drained');
select is(drain_worker('a'), true, 'a registered one can');
select is((select drained from heartbeat('a')), true, 'the next heartbeat tells it');
select is((select drained from heartbeat('b')), false, 'the others go on');
select results_eq($$ select act, subject from list_audit() $$, $$ values ('drain', 'a') $$, 'the act is recorded');

select add_job('mail');
select set_eq($$ select worker_id, state from list_workers() $$, $$ values ('a', 'drained'), ('b', 'working') $$, 'it is listed as drained');
select is((select workers from list_tasks() where task_identifier = 'mail'), 0::bigint, 'it is no worker of its tasks');
select matches((select detail from why((select max(id) from jobs)) where reason = 'no worker'), 'a did, and is drained since', 'why() says so');
select is_empty($$ select * from doctor() where finding = 'drained worker' $$, 'doctor() is patient for a minute');
update _gw_workers set drained_at = now() - interval '2 minutes' where id = 'a';
select results_eq(
  $$ select severity, subject, command from doctor() where finding = 'drained worker' $$,
  $$ values ('warning', 'worker a', 'select graphile_worker.drain_worker(''a'', false);') $$,
  'then it reports that jobs wait');
select drain_worker('a');
select is((select drained_at = now() - interval '2 minutes' from _gw_workers where id = 'a'), true, 'another call does not begin anew');
select register_worker('a', '{mail}');
select is((select drained from heartbeat('a')), true, 'a worker that registers again stays drained');
update _private_jobs set locked_at = now(), locked_by = 'a';
select is((select state from list_workers() where worker_id = 'a'), 'draining', 'it is draining while it holds a job');

select is(drain_worker('a', false), true, 'it can be let claim again');
select is((select drained from heartbeat('a')), false, 'and is told');

select * from finish();
rollback;
