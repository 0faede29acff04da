-- The sweep runs at most once per interval in the whole fleet; the interval is a setting.
begin;
select plan(6);
set local search_path = graphile_worker, public;

create function pg_temp.abandon()
  returns void
  language sql
as $$
  update _private_jobs set attempts = 1, locked_at = now() - interval '5 hours', locked_by = 'gone'
$$;

select add_job('task');
select pg_temp.abandon();
select is(stale_sweep(), 1::bigint, 'the first sweep frees the stale lock and returns the number of jobs');
select pg_temp.abandon();
select is(stale_sweep(), 0::bigint, 'the next sweep is not due at once');

update _gw_turns set last_at = clock_timestamp() - interval '50 seconds';
select is(stale_sweep(), 0::bigint, 'a sweep is not due after less than a minute');
update _gw_turns set last_at = clock_timestamp() - interval '60 seconds';
select is(stale_sweep(), 1::bigint, 'a sweep is due after a minute');

select pg_temp.abandon();
select set_setting('stale_sweep_every', '10 minutes');
update _gw_turns set last_at = clock_timestamp() - interval '9 minutes';
select is(stale_sweep(), 0::bigint, 'a sweep is not due before the time of the setting');
update _gw_turns set last_at = clock_timestamp() - interval '10 minutes';
select is(stale_sweep(), 1::bigint, 'a sweep is due after the time of the setting');

select * from finish();
rollback;
