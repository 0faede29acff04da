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
select is(pg_temp.lines(1), '1 completed w', 'a job that was added before is recorded');
select is(pg_temp.lines(2), null, 'a job of another task is not');
select add_job('kept');
select stop_keeping_task('kept');
select complete_job('w', pg_temp.claim('w'));
select is(pg_temp.lines(3), null, 'nor one that ends after the task is kept no more');
select is(pg_temp.lines(1), '1 completed w', 'what was recorded stays');
select is((select count(*) from list_history()), 1::bigint, 'and is all there is');

select * from finish();
rollback;
