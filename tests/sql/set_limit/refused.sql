-- A limit that cannot be meant is refused, with what is wrong.
begin;
select plan(12);
set local search_path = graphile_worker, public;

select throws_ok($$ select set_limit('x') $$, 'GWLVA', 'The limit ''x'' is invalid: it needs max_running, total_running, rate or fair.', 'no number');
select throws_ok($$ select set_limit('', max_running => 1) $$, 'GWLVA', null, 'no name');
select throws_ok($$ select set_limit('x', tasks => '{}', max_running => 1) $$, 'GWLVA', null, 'no task');
select throws_ok($$ select set_limit('x', max_running => 0) $$, 'GWLVA', null, 'a number of 0');
select throws_ok($$ select set_limit('x', rate => 1) $$, 'GWLVA', null, 'a rate without an interval');
select throws_ok($$ select set_limit('x', rate => 1, per => '-1 second') $$, 'GWLVA', null, 'a negative interval');
select throws_ok($$ select set_limit('x', max_running => 1, by => 'tenant') $$, 'GWLVA', null, 'an unknown key');
select throws_ok($$ select set_limit('x', max_running => 1, by => 'queue') $$, 'GWLVA', null, 'the queue of jobs that have none');
select throws_ok($$ select drop_limit('x') $$, 'GWLNM', 'There is no limit ''x''.', 'a limit that is not there cannot be dropped');
select throws_ok($$ select pause(limit_name => 'x') $$, 'GWLNM', null, 'nor paused');
select throws_ok($$ select pause(task => 'x', queue => 'y') $$, 'GWLVA', null, 'a pause is of one thing');
select throws_ok($$ select override_lane('x', 'y', 1) $$, 'GWLNM', null, 'an override needs its limit');

select * from finish();
rollback;
