-- A mark is renewed if half of its duration is left.
begin;
select plan(2);
set local search_path = graphile_worker, public;
\ir ../clock.psql

select set_setting('notify', 'idle');
select fall_asleep('worker');
update _gw_sleepers set until = now() + interval '5 seconds 1 microsecond';
select ok(not must_look_again,
  'a mark with more than half of its duration left is not renewed') from fall_asleep('worker');
update _gw_sleepers set until = now() + interval '5 seconds';
select ok(must_look_again, 'a mark with half of its duration left is renewed') from fall_asleep('worker');

select * from finish();
rollback;
