-- A worker whose handlers are given the transaction locks a batch, and ends it: completed jobs are gone, those with other outcomes are
-- claimed, the rest is as before.
begin;
select plan(15);
\ir ../work_batch.psql
select pg_temp.jobs_to_do(1, 6);
update _private_jobs set last_error = 'Not yet.', revision = 3, max_attempts = 2 where payload ->> 'n' = '2';
create temp table locked as select * from _gw_lock_tx_batch('w', 0, 4);
create function pg_temp.ended(done integer[], claimed integer[], most integer default 1000) returns integer language sql as $$
  select _gw_end_tx_batch('w', 0,
    array(select j.ctid from _private_jobs as j where (j.payload ->> 'n')::integer = any (done)),
    array(select j.ctid from _private_jobs as j where (j.payload ->> 'n')::integer = any (claimed)),
    (select max(l.lease) from locked as l), null, null, 100, 0.00002, most)
$$;
select results_eq(
  $$ select (l.payload ->> 'n')::integer, l.priority::integer, l.run_at, l.max_attempts::integer, l.created_at, l.last_error, l.revision from locked as l $$,
  $$ values (1, 0, now() - interval '1 minute', 25, now(), null::text, 0), (2, 0, now() - interval '1 minute', 2, now(), 'Not yet.', 3),
            (3, 0, now() - interval '1 minute', 25, now(), null, 0), (4, 0, now() - interval '1 minute', 25, now(), null, 0) $$,
  'the next jobs are locked, in their order');
select results_eq(
  $$ select l.place, l.id from locked as l $$, $$ select j.ctid::text, j.id from _private_jobs as j order by j.id limit 4 $$, 'with the places of their rows');
select is((select count(distinct l.lease) from locked as l where _gw_locked_at(l.lease) between now() and clock_timestamp()), 1::bigint, 'with one lease');
select is((select count(*) from _private_jobs where locked_at is not null or attempts > 0), 0::bigint, 'none is claimed');

select is(pg_temp.ended('{1, 3}', '{2}'), 200, 'the next batch may have twice as many');
select is((select jobs from _gw_batches), 200, 'which is recorded');
select results_eq(
  $$ select (j.payload ->> 'n')::integer, j.attempts::integer, j.locked_by, _gw_lease(j.locked_at) = (select max(l.lease) from locked as l)
       from _private_jobs as j order by j.id $$,
  $$ values (2, 1, 'w', true), (4, 0, null::text, null::boolean), (5, 0, null, null), (6, 0, null, null) $$,
  'the completed ones are gone, one is claimed, the others are as before');
select results_eq(
  $$ select f.state, f.attempts::integer from fail_job('w', (select id from _private_jobs where locked_by = 'w'), 'No.', (select max(lease) from locked)) as f $$,
  $$ values ('scheduled', 1) $$, 'the outcome of the claimed one is reported by its lease');
select is(pg_temp.ended('{4}', '{}', 60), 60, 'a batch may be limited to less');

select throws_ok(
  $$ select _gw_end_tx_batch('w', 0, '{"(9999,1)"}', '{}', 1, null, null, 100, 0.001, 1000) $$, 'GWWBC', null, 'a completed job has changed');
select throws_ok(
  $$ select _gw_end_tx_batch('w', 0, '{}', '{"(9999,1)"}', 1, null, null, 100, 0.001, 1000) $$, 'GWWBC', null, 'or one with another outcome');

-- Results.
truncate _private_jobs, locked;
select pg_temp.jobs_to_do(1, 3);
create temp table ids as select j.id, (j.payload ->> 'n')::integer as n from _private_jobs as j;
select expect_result(id) from ids where n = 1;
insert into locked select * from _gw_lock_tx_batch('w', 0, 3);
select _gw_end_tx_batch('w', 0, array(select l.place::tid from locked as l), '{}', (select max(l.lease) from locked as l),
                        array(select id from ids where n < 3 order by id), '{"\"one\"","\"two\""}'::json[], 100, 0.001, 1000);
select is(
  (select string_agg(concat_ws(' ', i.n, r.state, r.result), ', ' order by i.n) from ids as i left join job_results(array(select id from ids)) as r using (id)),
  '1 completed "one", 2 gone, 3 gone', 'results are kept where somebody asked for them');
select pg_temp.jobs_to_do(1, 1);
select expect_result(id) from _private_jobs;
select set_setting('max_result', '1024');
select throws_ok($$
  select _gw_end_tx_batch('w', 0, array(select ctid from _private_jobs), '{}', 1, array(select id from _private_jobs), array[to_json(repeat('x', 2000))],
                          100, 0.001, 1000) $$, 'GWWRS', null, 'and must not be too large');

select is((select count(*) from _gw_lock_tx_batch('w', 7, 10)), 0::bigint, 'without a record there is no batch');
select is((select current_setting('lock_timeout')), '100ms', 'a handler waits for no lock for longer than a batch is to take');

select * from finish();
rollback;
