-- A limit that cannot be meant is refused, with what is wrong.
begin;
select plan(18);
set local search_path = graphile_worker, public;

select throws_ok($$ select set_limit('x') $$, 'GWLVA', 'The limit ''x'' is invalid: it needs max_running, total_running, rate or fair.',
  'a limit without a number is refused');
select throws_ok($$ select set_limit('', max_running => 1) $$, 'GWLVA', null, 'a limit with an empty name is refused');
select throws_ok($$ select set_limit('x', tasks => '{}', max_running => 1) $$, 'GWLVA', null,
  'a limit with an empty list of tasks is refused');
select throws_ok($$ select set_limit('x', max_running => 0) $$, 'GWLVA', null, 'a max_running of zero is refused');
select throws_ok($$ select set_limit('x', rate => 1) $$, 'GWLVA', null, 'a rate without an interval is refused');
select throws_ok($$ select set_limit('x', rate => 1, per => '-1 second') $$, 'GWLVA', null,
  'a rate with a negative interval is refused');
select throws_ok($$ select set_limit('x', max_running => 1, by => 'tenant') $$, 'GWLVA', null,
  'a limit by an unknown key is refused');
select throws_ok($$ select set_limit('x', max_running => 1, by => 'queue') $$, 'GWLVA', null,
  'a limit by the queue of jobs is refused');
select throws_ok($$ select set_limit('x', rate => 1, per => '1001 years') $$, 'GWLVA', null,
  'an interval of more than a thousand years is refused');
select throws_ok($$ select set_limit('x', rate => 1, per => '-1 year 361 days') $$, 'GWLVA', null,
  'an interval that is negative in seconds only is refused');
select throws_ok($$ select set_limit('x', rate => 1, per => '100 years', burst => 11) $$, 'GWLVA',
                 'The limit ''x'' is invalid: burst times per by rate must be at most 1000 years.',
                 'a burst that takes more than a thousand years is refused');
select lives_ok($$ select set_limit('y', by => 'payload:k', rate => 1, per => '1000 years'), override_lane('y', '1', rate => 2147483647, per => '0.000001') $$,
                'intervals of a thousand years and of a microsecond are accepted');
select throws_ok($$ select override_lane('y', '1', rate => 1, per => '1 year', burst => 1001) $$, 'GWLVA', null,
  'an override with a burst that takes more than a thousand years is refused');
select throws_ok($$ select pause(queue => repeat('q', 129)) $$, 'GWLVA', null,
  'a pause of a queue with a name that is too long is refused');
select throws_ok($$ select drop_limit('x') $$, 'GWLNM', 'There is no limit ''x''.',
  'a limit that does not exist cannot be dropped');
select throws_ok($$ select pause(limit_name => 'x') $$, 'GWLNM', null, 'a limit that does not exist cannot be paused');
select throws_ok($$ select pause(task => 'x', queue => 'y') $$, 'GWLVA', null,
  'a pause of a task and a queue together is refused');
select throws_ok($$ select override_lane('x', 'y', 1) $$, 'GWLNM', null,
  'an override of a limit that does not exist is refused');

select * from finish();
rollback;
