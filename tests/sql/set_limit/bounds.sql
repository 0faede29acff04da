-- The largest and smallest values that a limit takes, and the longest keys.
begin;
select plan(13);
set local search_path = graphile_worker, public;

select lives_ok($$ select set_limit('l', rate => 1, per => '1000 years', burst => 1) $$,
  'a rate of one in a thousand years is accepted');
select throws_ok($$ select set_limit('l', rate => 1, per => '1000 years', burst => 2) $$, 'GWLVA', null,
  'a burst of two in a thousand years each is refused');
select lives_ok($$ select set_limit('l', rate => 1, per => '1 s', burst => 1) $$, 'a burst of one is accepted');
select lives_ok($$ select set_limit('l', by => 'payload:k', max_running => 1, total_running => 1) $$,
  'a max_running and a total_running of one are accepted');
select throws_ok($$ select set_limit('l', by => 'payload:k', max_running => 0, total_running => 9) $$, 'GWLVA', null,
  'a max_running of zero is refused');
select throws_ok($$ select set_limit('l', by => 'payload:k', max_running => 9, total_running => 0) $$, 'GWLVA', null,
  'a total_running of zero is refused');
select throws_ok($$ select set_limit('l', array['', null], max_running => 1) $$, 'GWLVA', null,
  'a list of tasks with a null is refused');
select lives_ok($$ select set_limit(repeat('l', 128), max_running => 1) $$, 'a name of 128 characters is accepted');

select is(_gw_key_of('payload:k', '{"k":1e2}', null), '100', 'the key of a number is its value');
select is(_gw_key_of('payload:k', json_build_object('k', ('1.' || repeat('0', 98))::json), null), '1',
  'the key of a number of a hundred characters is its value');
select is(_gw_key_of('payload:k', json_build_object('k', ('1.' || repeat('0', 99))::json), null), '1.' || repeat('0', 99),
  'the key of a longer number is its text');
select is(_gw_key_of('payload:k', json_build_object('k', repeat('k', 200)), null), repeat('k', 200),
  'the key of a text of 200 characters is the text');
select is(length(_gw_key_of('payload:k', json_build_object('k', repeat('k', 201)), null)), 192,
  'the key of a longer text is its beginning and a hash');

select * from finish();
rollback;
