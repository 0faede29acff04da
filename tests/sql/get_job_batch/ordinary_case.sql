-- A claim without limits and queues does in one statement what it has to, up to its bounds.
begin;
select plan(17);
set local search_path = graphile_worker, public;
truncate _gw_limit_changes;

create temp sequence looks minvalue 0;
create function pg_temp.skips(entries bigint) returns text language sql as $$ select set_config('test.entries', entries::text, true) $$;
create or replace function _gw_index_reads() returns bigint language sql volatile as $$ -- each second look is so much later
  select nextval('pg_temp.looks') % 2 * current_setting('test.entries')::bigint
$$;
create function pg_temp.claimed(most integer) returns bigint language sql as $$ select count(*) from get_job_batch('worker', batch_size => most) $$;
select pg_temp.skips(0), pg_temp.claimed(1);
\ir ../calls.psql

select add_job('task') from generate_series(1, 9);
select throws_ok($$ select * from get_job_batch('worker', queue_batch => 0) $$, 'GWWBS', null,
  'an ordinary claim refuses a queue_batch of 0');
select is(pg_temp.calls('{_gw_put_claim_cursor}'), 0::bigint, 'an ordinary claim puts no cursor');
select setval('looks', 1), pg_temp.skips(1002);
select is(pg_temp.claimed(2) || ' ' || pg_temp.calls('{_gw_put_claim_cursor}'), '2 0',
  'a claim puts no cursor where it skips a thousand entries more than its jobs');
select setval('looks', 1), pg_temp.skips(1003);
select is(pg_temp.claimed(2) || ' ' || pg_temp.calls('{_gw_put_claim_cursor}'), '2 1',
  'a claim puts a cursor where it skips more than a thousand entries');
delete from _private_jobs;
select set_config('gw.claim_cursor', '', false);
select pg_temp.skips(0), pg_temp.calls('{_gw_claim_cursor}') as cursors \gset
select setval('looks', 1), pg_temp.skips(1000);
select is(pg_temp.claimed(2), 0::bigint, 'a claim behind a thousand entries finds nothing');
select is(pg_temp.calls('{_gw_claim_cursor}'), :cursors::bigint,
  'a claim behind a thousand entries does not take the cursor of others');
select setval('looks', 1), pg_temp.skips(1001);
select is(pg_temp.claimed(2), 0::bigint, 'a claim behind more than a thousand entries finds nothing');
select cmp_ok(pg_temp.calls('{_gw_claim_cursor}'), '>', :cursors::bigint,
  'a claim behind more than a thousand entries takes the cursor of others');

select set_config('gw.claim_cursor', '', false), pg_temp.skips(0);
delete from _gw_claim_cursors;
select add_job('task', to_json(repeat('x', 40))) from generate_series(1, 2);
select pg_temp.calls('{_gw_within_bytes}') as bytes \gset
select is((select count(*) from get_job_batch('worker', batch_size => 2, max_bytes => 84)), 2::bigint,
  'a claim takes two jobs of 42 bytes with a max_bytes of 84');
select is(pg_temp.calls('{_gw_within_bytes}'), :bytes::bigint,
  'the bytes of jobs that are small enough are not counted again');
select is(_gw_most_bytes(to_json(repeat('x', 26))), 255 * 32, 'a payload of 28 bytes counts as if it were compressed');
select is(_gw_most_bytes(to_json(repeat('x', 27))), 29, 'a payload of 29 bytes counts with its size');
select is(_gw_most_bytes(to_json(repeat('x', 1994))), 1996, 'a payload of 1996 bytes counts with its size');
select is(_gw_most_bytes(to_json(repeat('x', 1995))), 255 * 2001, 'a payload of 1997 bytes counts as if it were compressed');

-- With queues it reads what it needs.
delete from _private_jobs;
select add_job('task', queue_name => 'q' || n) from generate_series(1, 2) as n;
select pg_temp.calls('{_gw_plain_jobs}') as plain \gset
select is(pg_temp.claimed(2), 2::bigint, 'a claim takes a batch of jobs in queues');
select is(pg_temp.calls('{_gw_plain_jobs}'), :plain + 1::bigint, 'a claim of jobs in queues looks for others once');
create or replace function _gw_index_reads() returns bigint language sql volatile as $$
  select case when n < 2 then n * 7 else 0 end from nextval('pg_temp.looks') as n
$$;
select setval('looks', 0, false), add_job('task', queue_name => 'q3');
select is(s.reads, 7::bigint, 'the search counts the entries that its first look has read')
  from _gw_search_jobs(_gw_new_claim('worker', null, 2, null, now(), null, null, 1), null, _gw_next_queues(17), null) as s;

select * from finish();
rollback;
