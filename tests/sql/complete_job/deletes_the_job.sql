-- A completed job is deleted; completing it again returns false.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select add_job('task'), add_job('task');
create temp table claimed as select * from get_job('worker');
select ok(complete_job('worker', id, lease), 'a claimed job can be completed') from claimed;
select ok(not complete_job('worker', id, lease), 'a completed job cannot be completed again') from claimed;
select ok(not complete_job('worker', id),
  'a completed job cannot be completed again without a lease, either') from claimed;
select is((select count(*) from _private_jobs), 1::bigint, 'completing a job deletes no other job');

select * from finish();
rollback;
