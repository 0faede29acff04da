-- A lock is stale after its time, not at its time; a lock or a sign of life of this moment is not of a clock that was
-- ahead.
begin;
select plan(10);
set local search_path = graphile_worker, public;
\ir ../clock.psql

select set_setting('dead_after', '1 minute');
select register_worker('worker'), add_job('task');
select count(*) from get_job_batch('worker');
create function pg_temp.freed(seen interval, locked interval, expiry interval default '2 minutes') returns bigint language sql as $$
  update _gw_workers set last_seen_at = now() - seen;
  update _private_jobs set locked_at = now() - locked;
  select reset_stale_locks(expiry)
$$;

select is(pg_temp.freed('1 minute', '1 hour'), 0::bigint, 'the lock of a worker that was seen dead_after ago is not stale');
select is(pg_temp.freed('2 minutes', '2 minutes'), 0::bigint, 'a lock that is as old as expiry is not stale');
select is(pg_temp.freed('2 minutes', '0'), 0::bigint, 'a lock of now is not stale');
select is(pg_temp.freed('2 minutes', '1 minute', '30 seconds'), 0::bigint,
  'a lock that is as old as dead_after is not stale');
select is(pg_temp.freed('2 minutes', '2 minutes 1 microsecond'), 1::bigint,
  'a lock that is older than expiry is stale');

select is(pg_temp.freed('-1 second', '1 second'), 0::bigint,
  'a lock of a worker whose sign of life is a second ahead is not stale');
select is((select last_seen_at from _gw_workers), now() + interval '1 second',
  'a sign of life that is a second ahead is left as it is');
update _gw_workers set beating_since = now() - interval '1 hour';
select is(pg_temp.freed('-1 second -1 microsecond', '1 second'), 0::bigint,
  'a lock of a worker whose sign of life is more than a second ahead is not stale');
select is((select last_seen_at from _gw_workers), now(),
  'a sign of life that is more than a second ahead is set to now');
select is((select beating_since from _gw_workers), now() - interval '1 hour',
  'a worker whose sign of life is set to now has beaten as long as before');

select * from finish();
rollback;
