-- Jobs of calls under a key are due at least the interval apart; calls in between share one.
begin;
select plan(14);
set local search_path = graphile_worker, public;

create function pg_temp.pass(seconds integer) returns void language sql as $$
  update _gw_keyed_calls set began_at = began_at - seconds * interval '1 s', not_before = not_before - seconds * interval '1 s';
  update _private_jobs set run_at = run_at - seconds * interval '1 s' where locked_at is null;
$$;
create function pg_temp.call(payload json) returns text language sql as $$
  select format('%s %s', round(extract(epoch from due_at - now())), is_new) from throttle_job('task', payload, 'k', '1 minute')
$$;

select is(pg_temp.call('[1]'), '0 t', 'the first job is due at once');
select pg_temp.pass(5);
select is(pg_temp.call('[2]'), '-5 f', 'a call does not change the due time of a job that waits');
select get_job_batch('worker');
select is(pg_temp.call('[3]'), '55 t', 'the next job is due a minute after the one that runs was due');
select pg_temp.pass(30);
select is(pg_temp.call('[4]'), '25 f', 'a later call shares the job that waits');
select is(payload::text, '[3, 4]',
  'the job has the payloads of the calls that share it') from _private_jobs where locked_at is null;
select complete_job('worker', id) from _private_jobs where locked_at is not null;
select pg_temp.pass(30);
select complete_job('worker', id) from get_job_batch('worker');
select is(pg_temp.call('[5]'), '55 t', 'the interval counts from when the last job was due');
select pg_temp.pass(600);
select complete_job('worker', id) from get_job_batch('worker');
select is(pg_temp.call('[6]'), '0 t', 'a job is due at once after a longer time');

-- A job that failed keeps the time of its next attempt.
select fail_job('worker', id, 'error') from get_job_batch('worker');
update _private_jobs set run_at = now() + interval '5 minutes';
select is(pg_temp.call('[7]'), '300 f', 'a call does not change the time of the next attempt of a failed job');
select is(pg_temp.call('[8]'), '300 f', 'a further call does not change the time of the next attempt, either');
select pg_temp.pass(300);
select complete_job('worker', id) from get_job_batch('worker');
select is(pg_temp.call('[9]'), '60 t', 'the interval counts from the time of the next attempt');
delete from _private_jobs;
select is(pg_temp.call('[10]'), '120 t', 'the interval counts from the due time of a job that was removed');

-- The failed job may be that of another call.
select add_job('task', job_key => 'other');
select fail_job('worker', id, 'error') from get_job('worker');
update _private_jobs set run_at = now() + interval '5 minutes' where key = 'other';
select is(round(extract(epoch from due_at - now()))::integer, 300,
  'a call does not change the next attempt of any failed job under its key')
  from throttle_job('task', key => 'other', every => '1 minute');

-- Transactions that began while the record was needed still find it.
delete from _private_jobs;
update _gw_keyed_calls set kept_until = now() - interval '30 s' where key = 'k';
select _gw_drop_keyed_calls();
select is(count(*), 1::bigint,
  'a record is kept for a minute longer than its time') from _gw_keyed_calls where key = 'k';
update _gw_keyed_calls set kept_until = now() - interval '90 s' where key = 'k';
select _gw_drop_keyed_calls();
select is(count(*), 0::bigint, 'a record is deleted a minute after it is needed') from _gw_keyed_calls where key = 'k';

select * from finish();
rollback;
