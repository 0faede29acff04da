-- The cost of jobs_for_scaling() depends neither on jobs that are not due nor on the number of due ones.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_jobs(array(select row('later', null, null, now() + interval '1 hour', null, null, n % 50, null)::job_spec
                        from generate_series(1, 20000) as n)) limit 1;
select add_job('now', priority => 49) from generate_series(1, 5);

-- Rows of the jobs table that this transaction has fetched by an index; nothing in it is visible without a look.
create function pg_temp.fetched()
  returns bigint
  language sql
as $$ select s.idx_tup_fetch from pg_stat_xact_user_tables as s where s.relid = '_private_jobs'::regclass $$;

create temporary table told as select pg_temp.fetched() as before, null::bigint as answer, null::bigint as after;
update told set answer = jobs_for_scaling('{now}', 1000);
update told set after = pg_temp.fetched();
select is((select answer from told), 5::bigint, 'the due jobs of the task are counted');
select ok((select after - before < 200 from told), 'jobs that are not due are not read');

update _private_jobs set run_at = now() where priority < 49;
update told set before = pg_temp.fetched();
update told set answer = jobs_for_scaling(most => 10);
update told set after = pg_temp.fetched();
select is((select answer from told), 10::bigint, 'no more jobs are counted than asked for');
select ok((select after - before < 200 from told), 'hardly more jobs are read than asked for');
select is(jobs_for_scaling('{now}'), 5::bigint, 'the jobs of a task are counted behind all others');

select * from finish();
rollback;
vacuum graphile_worker._private_jobs; -- or the tests to come would find a large table
