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
select is(stale_sweep(), 1::bigint, 'the first call has its turn and says how many jobs were freed');
select pg_temp.abandon();
select is(stale_sweep(), 0::bigint, 'the next one has to wait');

update _gw_turns set last_at = clock_timestamp() - interval '50 seconds';
select is(stale_sweep(), 0::bigint, 'for a minute');
update _gw_turns set last_at = clock_timestamp() - interval '60 seconds';
select is(stale_sweep(), 1::bigint, 'and no longer');

select pg_temp.abandon();
select set_setting('stale_sweep_every', '10 minutes');
update _gw_turns set last_at = clock_timestamp() - interval '9 minutes';
select is(stale_sweep(), 0::bigint, 'or for what was set');
update _gw_turns set last_at = clock_timestamp() - interval '10 minutes';
select is(stale_sweep(), 1::bigint, 'and no longer');

select * from finish();
rollback;
