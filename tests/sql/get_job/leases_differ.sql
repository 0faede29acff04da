-- Every claim of a job has a lease of its own, even claims by one worker in one transaction.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('task');
create temp table first as select * from get_job('worker');
select return_job('worker', id) from first;
create temp table second as select * from get_job('worker');

select is((select id from second), (select id from first), 'the same job is claimed again after its return');
select cmp_ok((select lease from second), '>', (select lease from first), 'the second claim has a later lease');

select * from finish();
rollback;
