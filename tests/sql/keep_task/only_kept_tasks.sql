-- Only jobs of kept tasks are recorded, from keep_task() to stop_keeping_task().
begin;
select plan(5);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;
\ir ../history.psql

select add_job('kept'), add_job('other');
select keep_task('kept', '1 day');
select count(*) from get_job_batch('w', null, 2);
select complete_job_batch('w', '{1,2}');
select is(pg_temp.lines(1), '1 completed w', 'a job that was added before its task was kept is recorded');
select is(pg_temp.lines(2), null, 'a job of a task that is not kept is not recorded');
select add_job('kept');
select stop_keeping_task('kept');
select complete_job('w', pg_temp.claim('w'));
select is(pg_temp.lines(3), null, 'a job that ends after its task is kept no more is not recorded');
select is(pg_temp.lines(1), '1 completed w', 'earlier records of the task stay');
select is((select count(*) from list_history()), 1::bigint, 'no other records exist');

select * from finish();
rollback;
