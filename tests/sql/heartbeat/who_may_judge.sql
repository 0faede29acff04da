-- Only a worker that has sent heartbeats without a gap for dead_after may consider another one dead.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select set_setting('dead_after', '4 seconds');
select register_worker('keeper'), register_worker('dead');
select add_job('task');
select get_job('dead');
update _private_jobs set locked_at = now() - interval '12 seconds';
update _gw_workers set last_seen_at = now() - interval '12 seconds' where id = 'dead';

create function pg_temp.beat(since interval, gap interval default '0', reconnected boolean default false)
  returns text[] language sql as $$
  update _gw_workers set last_seen_at = clock_timestamp() - gap, beating_since = clock_timestamp() - since where id = 'keeper';
  select died from heartbeat('keeper', reconnected => beat.reconnected)
$$;
create function pg_temp.is_new() returns boolean language sql as $$
  select beating_since = last_seen_at from _gw_workers where id = 'keeper'
$$;

select is(pg_temp.beat('1 second'), '{}', 'a worker that has beaten for less than dead_after does not judge others');
select is(pg_temp.beat('8 seconds', gap => '2.4 seconds'), '{}',
  'a worker with a gap of more than half of dead_after does not judge others');
select ok(pg_temp.is_new(), 'a worker counts its time anew after a gap');
select is(pg_temp.beat('8 seconds', gap => '-1 minute'), '{}',
  'a worker whose clock was set back does not judge others');
select is(pg_temp.beat('8 seconds', reconnected => true), '{}',
  'a worker whose connection broke does not judge others');
select is(pg_temp.beat(clock_timestamp() - pg_postmaster_start_time() + interval '4 seconds'), '{}',
          'a worker does not judge others if the server has started since');
select ok(pg_temp.is_new(), 'a worker counts its time anew after a start of the server');
select is(pg_temp.beat('4.4 seconds'), '{dead}',
  'a worker that has beaten for dead_after finds the silent worker dead');

select * from finish();
rollback;
