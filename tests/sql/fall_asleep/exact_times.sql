-- A mark is renewed if half of its duration is left.
begin;
select plan(2);
set local search_path = graphile_worker, public;
\ir ../clock.psql

select set_setting('notify', 'idle');
select fall_asleep('worker');
update _gw_sleepers set until = now() + interval '5 seconds 1 microsecond';
select ok(not must_look_again, 'more than half is left') from fall_asleep('worker');
update _gw_sleepers set until = now() + interval '5 seconds';
select ok(must_look_again, 'half is left') from fall_asleep('worker');

select * from finish();
rollback;
