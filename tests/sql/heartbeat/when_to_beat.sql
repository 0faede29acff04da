-- A heartbeat returns the time of the next one: after beat_every, or a quarter of dead_after if that is less.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select register_worker('worker');
select is(next_in, interval '5 seconds',
  'the next heartbeat is due after 5 seconds by default') from heartbeat('worker');
select set_setting('beat_every', '2 seconds');
select is(next_in, interval '2 seconds', 'the next heartbeat is due after beat_every') from heartbeat('worker');
select set_setting('dead_after', '4 seconds');
select is(next_in, interval '1 second',
  'the next heartbeat is due after a quarter of dead_after if that is less') from heartbeat('worker');
select is(next_in, interval '1 second',
  'the next heartbeat of an unregistered worker is due at the same time') from heartbeat('unknown');

select * from finish();
rollback;
