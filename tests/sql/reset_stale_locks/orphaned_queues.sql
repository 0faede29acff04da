-- A queue stays locked if the row of its running job is deleted by hand. It is freed, and no other queue is.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select register_worker('worker');
select add_job('task', queue_name => queue) from unnest(array['deleted', 'deleted', 'new', 'new', 'runs', 'runs']) as queue;
select get_job_batch('worker', batch_size => 10);
select results_eq(
  $$ select count(*) from _private_job_queues where locked_by = 'worker' $$, array[3::bigint],
  'the worker has locked three queues');
update _private_job_queues set locked_at = now() - interval '1 minute' where queue_name <> 'new';
delete from _private_jobs as j using _private_job_queues as q
 where q.id = j.job_queue_id and q.queue_name in ('deleted', 'new') and j.locked_by is not null;

select is(reset_stale_locks(), 0::bigint, 'no job is freed with the orphaned queues');
select results_eq(
  $$ select queue_name, locked_by from _private_job_queues order by queue_name $$,
  $$ values ('deleted', null), ('new', 'worker'), ('runs', 'worker') $$,
  'the queue without a running job is free, except one that was locked less than a minute ago');

select * from finish();
rollback;
