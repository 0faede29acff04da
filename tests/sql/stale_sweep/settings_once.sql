-- A sweep and tidy read each setting once, however many jobs, workers and other rows there are: a condition that reads
-- it for each row takes seconds of a large table, and which plans do that differs by the version of PostgreSQL.
begin;
select plan(4);
set local search_path = graphile_worker, public;
set local track_functions = 'all';

create function pg_temp.readings() returns bigint language sql as $$
  select coalesce(sum(pg_stat_get_xact_function_calls(p.oid)), 0)::bigint
    from pg_proc as p where p.proname = 'setting' and p.pronamespace = 'graphile_worker'::regnamespace $$;

select count(*) from (select add_job('task') from generate_series(1, 1000)) as a;
insert into _gw_audit (act, jobs, role) select 'test', 0, 'test' from generate_series(1, 1000);
insert into _gw_samples (at, ready, scheduled, running, failed, is_estimate, workers, added, gone)
select now() - n * interval '1 minute', 0, 0, 0, 0, false, 0, 0, 0 from generate_series(1, 1000) as n;
select register_worker('worker ' || n) from generate_series(1, 1000) as n;
select count(*) from get_job_batch('worker 1', batch_size => 500);
update _private_jobs set locked_at = now() - interval '1 hour' where locked_at is not null;
update _gw_workers set recovered_at = now();
update _gw_turns set last_at = '-infinity';

select stale_sweep();
select cmp_ok(pg_temp.readings(), '<', 20::bigint, 'a sweep reads its settings once');
select is((select count(*) from _gw_workers where recovered_at is null), 1::bigint,
  'the worker that holds silent jobs is to be recovered once more, and no other');
select is((select last_at > '-infinity' from _gw_turns where name = 'stale_sweep'), true, 'the sweep was due');

select tidy();
select cmp_ok(pg_temp.readings(), '<', 60::bigint, 'tidy reads its settings once');

select * from finish();
rollback;
