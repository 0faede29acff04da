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
select throws_ok($$ select * from get_job_batch('worker', queue_batch => 0) $$, 'GWWBS', null, 'it refuses what others refuse');
select is(pg_temp.calls('{_gw_put_claim_cursor}'), 0::bigint, 'no cursor so far');
select setval('looks', 1), pg_temp.skips(1002);
select is(pg_temp.claimed(2) || ' ' || pg_temp.calls('{_gw_put_claim_cursor}'), '2 0', 'nor where a thousand entries more than jobs are skipped');
select setval('looks', 1), pg_temp.skips(1003);
select is(pg_temp.claimed(2) || ' ' || pg_temp.calls('{_gw_put_claim_cursor}'), '2 1', 'but where there are more');
delete from _private_jobs;
select set_config('gw.claim_cursor', '', false);
select pg_temp.skips(0), pg_temp.calls('{_gw_claim_cursor}') as cursors \gset
select setval('looks', 1), pg_temp.skips(1000);
select is(pg_temp.claimed(2), 0::bigint, 'nothing');
select is(pg_temp.calls('{_gw_claim_cursor}'), :cursors::bigint, 'is behind a thousand entries');
select setval('looks', 1), pg_temp.skips(1001);
select is(pg_temp.claimed(2), 0::bigint, 'nor behind more');
select cmp_ok(pg_temp.calls('{_gw_claim_cursor}'), '>', :cursors::bigint, 'where it takes the cursor of others');

select set_config('gw.claim_cursor', '', false), pg_temp.skips(0);
delete from _gw_claim_cursors;
select add_job('task', to_json(repeat('x', 40))) from generate_series(1, 2);
select pg_temp.calls('{_gw_within_bytes}') as bytes \gset
select is((select count(*) from get_job_batch('worker', batch_size => 2, max_bytes => 84)), 2::bigint, 'two jobs of 42 bytes have 84');
select is(pg_temp.calls('{_gw_within_bytes}'), :bytes::bigint, 'which need not be counted again');
select is(_gw_most_bytes(to_json(repeat('x', 26))), 255 * 32, 'a small payload may be compressed');
select is(_gw_most_bytes(to_json(repeat('x', 27))), 29, 'or is so small that it is read');
select is(_gw_most_bytes(to_json(repeat('x', 1994))), 1996, 'up to two thousand bytes');
select is(_gw_most_bytes(to_json(repeat('x', 1995))), 255 * 2001, 'not more');

-- With queues it reads what it needs.
delete from _private_jobs;
select add_job('task', queue_name => 'q' || n) from generate_series(1, 2) as n;
select pg_temp.calls('{_gw_plain_jobs}') as plain \gset
select is(pg_temp.claimed(2), 2::bigint, 'a batch of jobs in queues');
select is(pg_temp.calls('{_gw_plain_jobs}'), :plain + 1::bigint, 'looks for others once');
create or replace function _gw_index_reads() returns bigint language sql volatile as $$
  select case when n < 2 then n * 7 else 0 end from nextval('pg_temp.looks') as n
$$;
select setval('looks', 0, false), add_job('task', queue_name => 'q3');
select is(s.reads, 7::bigint, 'and has read what the first look has')
  from _gw_search_jobs(_gw_new_claim('worker', null, 2, null, now(), null, null, 1), null, _gw_next_queues(17), null) as s;

select * from finish();
rollback;
