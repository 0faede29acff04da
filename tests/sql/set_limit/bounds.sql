-- The largest and smallest values that a limit takes, and the longest keys.
begin;
select plan(13);
set local search_path = graphile_worker, public;

select lives_ok($$ select set_limit('l', rate => 1, per => '1000 years', burst => 1) $$, 'a rate of one in a thousand years');
select throws_ok($$ select set_limit('l', rate => 1, per => '1000 years', burst => 2) $$, 'GWLVA', null, 'but not a burst of two');
select lives_ok($$ select set_limit('l', rate => 1, per => '1 s', burst => 1) $$, 'a burst of one');
select lives_ok($$ select set_limit('l', by => 'payload:k', max_running => 1, total_running => 1) $$, 'one job');
select throws_ok($$ select set_limit('l', by => 'payload:k', max_running => 0, total_running => 9) $$, 'GWLVA', null, 'not none of a key');
select throws_ok($$ select set_limit('l', by => 'payload:k', max_running => 9, total_running => 0) $$, 'GWLVA', null, 'or of all');
select throws_ok($$ select set_limit('l', array['', null], max_running => 1) $$, 'GWLVA', null, 'no list of tasks has nulls');
select lives_ok($$ select set_limit(repeat('l', 128), max_running => 1) $$, 'a name of 128 characters');

select is(_gw_key_of('payload:k', '{"k":1e2}', null), '100', 'a number is its value');
select is(_gw_key_of('payload:k', json_build_object('k', ('1.' || repeat('0', 98))::json), null), '1', 'also one of a hundred characters');
select is(_gw_key_of('payload:k', json_build_object('k', ('1.' || repeat('0', 99))::json), null), '1.' || repeat('0', 99), 'longer ones are texts');
select is(_gw_key_of('payload:k', json_build_object('k', repeat('k', 200)), null), repeat('k', 200), 'a key of 200 characters is itself');
select is(length(_gw_key_of('payload:k', json_build_object('k', repeat('k', 201)), null)), 192, 'a longer one its beginning and a hash');

select * from finish();
rollback;
