-- task_stats() counts attempts by outcome, and computes how long jobs waited and ran, from recent and packed records alike.
begin;
select plan(8);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;
\ir ../history.psql
select keep_task('task', '1 day');

select add_job('task') from generate_series(1, 100);
select count(*) from get_job_batch('w', null, 100);
-- Job n was due n seconds before its claim, 1000 seconds ago, and ran for n seconds.
update _private_jobs set created_at = now() - (1000 + id) * interval '1 second', run_at = now() - (1000 + id) * interval '1 second',
       locked_at = now() - id * interval '1 second';
update _private_jobs set run_at = locked_at - id * interval '1 second', created_at = locked_at - id * interval '1 second';
select count(*) from fail_job_batch('w', (select json_agg(json_build_object('id', n, 'message', 'x', 'permanent', n = 3)) from generate_series(1, 3) as n));
select count(*) from return_job_batch('w', '{4}');
select count(*) from return_job_batch('w', '{5}', run_in => '1 hour');
select count(*) from complete_job_batch('w', array(select generate_series(6, 100)));

create temporary table late as select extract(epoch from max(ended_at) - now()) as seconds from list_history();
create function pg_temp.shown(at integer default 50000) returns text language sql as $$
  select concat_ws(' ', s.attempts, s.completed, s.failed, s.permanently_failed, s.recovered, s.snoozed, s.returned,
           round(extract(epoch from s.waited_p50)), round(extract(epoch from s.waited_p95)), round(extract(epoch from s.waited_p99)),
           -- The test itself takes a while.
           abs(extract(epoch from s.ran_p50) - l.seconds - 52) < 3, abs(extract(epoch from s.ran_p95) - l.seconds - 95) < 3,
           abs(extract(epoch from s.ran_p99) - l.seconds - 99) < 3, s.sampled)
    from task_stats('task', sample_at => at) as s
   cross join late as l
$$;
select is(pg_temp.shown(), '100 95 2 1 0 1 1 52 95 99 t t t 98',
  'recent records have the counts and times of all attempts');
select pg_temp.pack();
select is(pg_temp.shown(), '100 95 2 1 0 1 1 52 95 99 t t t 98', 'packed records have the same counts and times');
select is(split_part(pg_temp.shown(10), ' ', 1) || ' ' || split_part(pg_temp.shown(10), ' ', 2), '100 95',
  'the counts are those of all records although the times are of a sample');
select is((select attempts from task_stats('other')), 0::bigint, 'a task that is not kept has no attempts');
select is((select ran_p50 from task_stats('other')), null, 'a task that is not kept has no times');
select is((select attempts from task_stats('task', now() + interval '1 minute')), 0::bigint,
  'no attempt is counted that would end later');
select is((select attempts from task_stats('task', until => now() - interval '1 minute')), 0::bigint,
  'no attempt is counted that ended after the given time');
select throws_ok($$ select task_stats(null) $$, 'GWBNI', null, 'a task that is null is refused');

select * from finish();
rollback;
