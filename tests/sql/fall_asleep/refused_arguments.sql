-- A worker id that claims refuse, or a duration of the mark that is not positive, is refused.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select throws_ok($$ select fall_asleep('') $$, 'GWWID', 'Worker id must be 1 to 128 characters long.');
select throws_ok($$ select fall_asleep(null) $$, 'GWWID');
select throws_ok($$ select fall_asleep(repeat('w', 129)) $$, 'GWWID');
select throws_ok($$ select fall_asleep('worker', lasting => '0 seconds') $$, 'GWWEX');
select throws_ok($$ select fall_asleep('worker', lasting => '-1 minute') $$, 'GWWEX');

select * from finish();
rollback;
