-- An operator has parked the job under a key: calls wait for the interval, and for a hundred of them after it was removed.
begin;
select plan(7);
set local search_path = graphile_worker, public;

-- The minutes until the job is due: the test may take seconds.
create function pg_temp.call() returns text language sql as $$
  select format('%s %s', floor(extract(epoch from due_at - now()) / 60), is_new) from throttle_job('task', '[1]', 'k', '1 minute')
$$;
create function pg_temp.park(at timestamptz) returns void language plpgsql as $$
begin
  perform fail_job('worker', j.id, 'error') from get_job_batch('worker') as j;
  perform reschedule_jobs(array(select j.id from _private_jobs as j), run_at => at);
end;
$$;

select is(pg_temp.call(), '0 t', 'the first job is due at once');
select pg_temp.park('infinity');
select is(pg_temp.call(), '1 f', 'a job that was parked for ever after a failure is due after the interval');
select is(pg_temp.call(), '1 f', 'a further call has the same due time');
select is((select max(kept_until) from _gw_keyed_calls) <= now() + interval '2 minutes', true, 'the record is not kept for ever');

update _private_jobs set run_at = now();
select pg_temp.park('2199-01-01');
select pg_temp.call();
delete from _private_jobs;
select is(pg_temp.call(), '101 t', 'a job that was parked for centuries and removed holds back the next one by a hundred intervals');

-- Records of an earlier release.
delete from _private_jobs;
update _gw_keyed_calls set began_at = 'infinity', kept_until = 'infinity';
select is(pg_temp.call(), '101 t', 'a record that is kept for ever holds back the next job by a hundred intervals');

-- Parked without a failure: a call replaces it.
select reschedule_jobs(array(select j.id from _private_jobs as j), run_at => 'infinity');
select is(pg_temp.call(), '101 f', 'a parked job that has not failed is due after a hundred intervals again');

select * from finish();
rollback;
