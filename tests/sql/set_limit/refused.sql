-- A limit that cannot be meant is refused, with what is wrong.
begin;
select plan(18);
set local search_path = graphile_worker, public;

select throws_ok($$ select set_limit('x') $$, 'GWLVA', 'The limit ''x'' is invalid: it needs max_running, total_running, rate or fair.', 'no number');
select throws_ok($$ select set_limit('', max_running => 1) $$, 'GWLVA', null, 'no name');
select throws_ok($$ select set_limit('x', tasks => '{}', max_running => 1) $$, 'GWLVA', null, 'no task');
select throws_ok($$ select set_limit('x', max_running => 0) $$, 'GWLVA', null, 'a number of 0');
select throws_ok($$ select set_limit('x', rate => 1) $$, 'GWLVA', null, 'a rate without an interval');
select throws_ok($$ select set_limit('x', rate => 1, per => '-1 second') $$, 'GWLVA', null, 'a negative interval');
select throws_ok($$ select set_limit('x', max_running => 1, by => 'tenant') $$, 'GWLVA', null, 'an unknown key');
select throws_ok($$ select set_limit('x', max_running => 1, by => 'queue') $$, 'GWLVA', null, 'the queue of jobs');
select throws_ok($$ select set_limit('x', rate => 1, per => '1001 years') $$, 'GWLVA', null, 'more than a thousand years');
select throws_ok($$ select set_limit('x', rate => 1, per => '-1 year 361 days') $$, 'GWLVA', null, 'an interval that is negative in seconds only');
select throws_ok($$ select set_limit('x', rate => 1, per => '100 years', burst => 11) $$, 'GWLVA',
                 'The limit ''x'' is invalid: burst times per by rate must be at most 1000 years.', 'a burst for more than a thousand years');
select lives_ok($$ select set_limit('y', by => 'payload:k', rate => 1, per => '1000 years'), override_lane('y', '1', rate => 2147483647, per => '0.000001') $$,
                'a thousand years, and a microsecond');
select throws_ok($$ select override_lane('y', '1', rate => 1, per => '1 year', burst => 1001) $$, 'GWLVA', null, 'nor has a lane such a burst');
select throws_ok($$ select pause(queue => repeat('q', 129)) $$, 'GWLVA', null, 'no queue has such a name');
select throws_ok($$ select drop_limit('x') $$, 'GWLNM', 'There is no limit ''x''.', 'a limit that is not there cannot be dropped');
select throws_ok($$ select pause(limit_name => 'x') $$, 'GWLNM', null, 'nor paused');
select throws_ok($$ select pause(task => 'x', queue => 'y') $$, 'GWLVA', null, 'a pause is of one thing');
select throws_ok($$ select override_lane('x', 'y', 1) $$, 'GWLNM', null, 'an override needs its limit');

select * from finish();
rollback;
