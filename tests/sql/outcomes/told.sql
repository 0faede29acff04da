-- Ends of jobs notify workers of the jobs that are due, also of those that become due at this moment, and of no others.
begin;
select plan(12);
set local search_path = graphile_worker, public;
\ir ../clock.psql

create temp table notified (job_count bigint);
create or replace function _gw_wake(job_count bigint) returns void language sql as $$
  insert into pg_temp.notified values (job_count)
$$;
create function pg_temp.told() returns text language sql as $$
  set constraints all immediate;
  set constraints all deferred;
  with gone as (delete from pg_temp.notified returning job_count) select string_agg(job_count::text, ' ') from gone
$$;

select add_job('task', to_json(n), 'q') from generate_series(1, 3) as n;
create temp table claimed (id bigint, lease bigint);
create function pg_temp.claim() returns void language sql as $$
  delete from claimed;
  insert into claimed select b.id, b.lease from get_job_batch('worker') as b
$$;
select pg_temp.claim();
select pg_temp.told();
select complete_job('worker', id, lease) from claimed;
select is(pg_temp.told(), '1', 'the end of a job notifies of the due job behind it in the queue');
select pg_temp.claim();
select is(_gw_complete_claim('worker', array[id], lease), null,
  '_gw_complete_claim() returns null if all jobs were completed') from claimed;
select is(pg_temp.told(), '1', 'the end of a claim notifies of the due job behind it in the queue');
select pg_temp.claim();
select _gw_complete_claim('worker', array[id], lease) from claimed;
select is(pg_temp.told(), null, 'the end of the last job of a queue notifies nobody');

select add_job('task');
select pg_temp.claim();
select pg_temp.told();
select return_job('worker', id, lease) from claimed;
select is(pg_temp.told(), '1', 'a returned job that is due now notifies workers');
select complete_job('worker', id, lease) from claimed;
select is(pg_temp.told(), '1', 'completing a job that is no longer held notifies of the job that is due');
select complete_job_batch('worker', array[id, 0], array[lease, 0]) from claimed;
select is(pg_temp.told(), '1', 'completing a batch with jobs that are no longer held notifies of the job that is due');
select pg_temp.claim();
select return_job('worker', id, lease, interval '1 microsecond') from claimed;
select is(pg_temp.told(), '0', 'a returned job that is due later notifies without a job that is due');
update _private_jobs set run_at = now();
select pg_temp.claim();
select fail_job('worker', id, 'for good', lease, permanent => true) from claimed;
select is(pg_temp.told(), null, 'a permanently failed job notifies nobody');
select complete_job('worker', max(id)) from claimed;
select is(pg_temp.told(), null, 'completing a permanently failed job notifies nobody');

select is(_gw_next_may_start('ready', now() + interval '1 second'), true, 'the next job of a streak starts if the job waits for a second');
select is(_gw_next_may_start('ready', now() + interval '999999 microseconds'), false,
  'the next job of a streak does not start if the job is due in less than a second');

select * from finish();
rollback;
