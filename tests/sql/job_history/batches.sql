-- Jobs that a batch runs inside the server are recorded, with the worker that runs it.
begin;
select plan(3);
\ir ../work_batch.psql
\ir ../history.psql
select keep_task('task', '1 day');

select pg_temp.begin_batches(3);
select pg_temp.jobs_to_do(1, 3);
update _private_jobs set max_attempts = 1 where payload ->> 'n' = '3';
create temporary table ids as select j.id, (j.payload ->> 'n')::integer as n from _private_jobs as j;
update _private_jobs set payload = '{"n": "none"}' where payload ->> 'n' in ('2', '3');
select count(*) from pg_temp.batch();
select is(pg_temp.lines(id), '1 completed w', 'a job that succeeds') from ids where n = 1;
select matches(pg_temp.lines(id), '^1 failed w \(.+\)$', 'a job that fails') from ids where n = 2;
select matches(pg_temp.lines(id), '^1 permanently_failed w \(.+\)$', 'in its last attempt') from ids where n = 3;

select * from finish();
rollback;
