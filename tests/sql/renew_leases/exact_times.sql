-- A lock is renewed if it is older than asked for.
begin;
select plan(2);
set local search_path = graphile_worker, public;
\ir ../clock.psql

select add_job('task');
select count(*) from get_job_batch('worker');
create function pg_temp.age(locked interval) returns interval language sql as $$
  update _private_jobs set locked_at = now() - locked;
  select renew_leases('worker', array[id], array[_gw_lease(locked_at)]) from _private_jobs;
  select now() - locked_at from _private_jobs
$$;
select is(pg_temp.age('1 hour'), interval '1 hour', 'a lock of an hour is not renewed');
select is(pg_temp.age('1 hour 1 microsecond'), interval '0', 'a lock of more than an hour is renewed');

select * from finish();
rollback;
