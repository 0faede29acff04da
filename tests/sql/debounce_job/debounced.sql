-- Calls under a key put off their job, but not beyond max_wait after the first of them since the job has last started.
begin;
select plan(14);
set local search_path = graphile_worker, public;

-- Lets so many minutes pass.
create function pg_temp.pass(minutes integer) returns void language sql as $$
  update _gw_keyed_calls set began_at = began_at - minutes * interval '1 minute', not_before = not_before - minutes * interval '1 minute';
  update _private_jobs set run_at = run_at - minutes * interval '1 minute';
$$;
-- Minutes from now, rounded.
create function pg_temp.due(at timestamptz) returns integer language sql as $$ select round(extract(epoch from at - clock_timestamp()) / 60)::integer $$;
create function pg_temp.call(payload json) returns text language sql as $$
  select format('%s %s', pg_temp.due(due_at), is_new) from debounce_job('task', payload, 'k', '120 minutes', '600 minutes')
$$;

select is(pg_temp.call('[1]'), '120 t', 'the first call adds a job that is due after wait');
select pg_temp.pass(60);
select is(pg_temp.call('[2]'), '120 f', 'the second call puts the job off');
select is(payload::text, '[1, 2]',
  'the second call appends its elements to the payload, as add_job does') from _private_jobs;
select pg_temp.pass(500);
select is(pg_temp.call('[3]'), '40 f', 'a call puts the job off to at most 600 minutes after the first call');
select pg_temp.pass(500);
select is(pg_temp.call('[4]'), '-460 f',
  'max_wait counts from the first call even if the job is due and has not started');
select is((select count(*) from _private_jobs), 1::bigint, 'all calls have one job');

-- While the job runs, the next job has a time of its own.
select get_job_batch('worker');
select is(pg_temp.call('[5]'), '120 t', 'a call while the job runs adds a job that is due after wait');
select pg_temp.pass(590);
select is(pg_temp.call('[6]'), '10 f', 'max_wait counts from the first call since the job has started');
delete from _private_jobs where locked_at is not null;

-- A failed job waits for its next attempt; a call does not shorten that time, and counts as the first since the start.
update _private_jobs set run_at = now() - interval '1 s';
select get_job_batch('worker');
select fail_job('worker', id, 'error') from _private_jobs;
update _private_jobs set run_at = clock_timestamp() + interval '300 minutes';
select is(pg_temp.call('[7]'), '300 f', 'a call does not change the time of the next attempt of a failed job');
select is(pg_temp.call('[8]'), '300 f', 'a further call does not change the time of the next attempt, either');
select pg_temp.pass(400);
select is(pg_temp.call('[9]'), '120 f', 'a call after the time of the next attempt puts the job off');
select pg_temp.pass(150);
select is(pg_temp.call('[9]'), '50 f', 'max_wait counts from the first call after the failure');

-- Without max_wait there is no limit.
select pg_temp.due(due_at) from debounce_job('task', key => 'k2', wait => '3600 minutes');
select pg_temp.pass(1000000);
select is(pg_temp.due(due_at), 3600,
  'without max_wait each call puts the job off') from debounce_job('task', key => 'k2', wait => '3600 minutes');

-- The record is needed as long as the job is there.
update _gw_keyed_calls set kept_until = now() - interval '1 day';
delete from _private_jobs where key = 'k2';
select _gw_drop_spent();
select results_eq($$ select key, kept_until > now() from _gw_keyed_calls $$, $$ values ('k', true) $$, 'a record stays as long as its job');

select * from finish();
rollback;
