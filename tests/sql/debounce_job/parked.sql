-- An operator has parked the job under a key: a call begins anew.
begin;
select plan(4);
set local search_path = graphile_worker, public;

-- The minutes until the job is due: the test may take seconds.
create function pg_temp.call() returns text language sql as $$
  select format('%s %s', floor(extract(epoch from due_at - now()) / 60), is_new) from debounce_job('task', '[1]', 'k', '1 minute', '5 minutes')
$$;

select is(pg_temp.call(), '1 t', 'the first call adds a job that is due after the interval');
update _private_jobs set run_at = now();
select fail_job('worker', j.id, 'error') from get_job_batch('worker') as j;
select reschedule_jobs(array(select j.id from _private_jobs as j), run_at => 'infinity');
select is(pg_temp.call(), '1 f', 'a job that was parked for ever after a failure is due after the interval');
select is((select max(kept_until) from _gw_keyed_calls) < now() + interval '2 minutes', true, 'the record is not kept for ever');
select reschedule_jobs(array(select j.id from _private_jobs as j), run_at => 'infinity');
select is(pg_temp.call(), '1 f', 'a parked job that has not failed is due after the interval');

select * from finish();
rollback;
