-- A payload larger than the setting max_payload is refused, however well it compresses; one of exactly that size is
-- accepted.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select is(setting('max_payload'), '67108864', 'the default of max_payload is 64 MB');
select set_setting('max_payload', '1048576');
select throws_ok(
  $$ select add_job('task', to_json(repeat('x', 1048575))) $$,
  'GWBPL', 'Payload has 1048577 bytes, at most 1048576 are allowed.',
  'a payload with a byte more than allowed is refused');
select lives_ok($$ select add_job('task', to_json(repeat('x', 1048574))) $$,
  'a payload with as many bytes as allowed is accepted');

create temporary table stored as select to_json(repeat('x', 1048575)) as payload;
select throws_ok($$ select add_job('task', s.payload) from stored as s $$, 'GWBPL', null,
  'a payload that is stored compressed counts uncompressed');
select throws_ok(
  $$ select add_job('task', to_json(repeat('x', 1048575)), job_key => 'key') $$, 'GWBPL', null,
  'a payload that is too large under a key is refused');
select is((select count(*) from jobs), 1::bigint, 'refused jobs were not added');

select * from finish();
rollback;
