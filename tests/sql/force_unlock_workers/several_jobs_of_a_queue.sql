-- The attempts of jobs that have not started, because they were claimed behind another job of their queue, do not count.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select add_job('task', to_json(p), 'q', priority => p) from unnest('{4,3,2,1}'::integer[]) as p;
select get_job_batch('worker', batch_size => 9, queue_batch => 3);
select complete_job('worker', id) from _private_jobs where priority = 1;
select force_unlock_workers('{worker}');
select is(array(select priority::integer from _private_jobs where attempts = 1), '{2}',
  'only the first of the remaining jobs of the queue has started');
select is((select count(*) from _private_job_queues where locked_at is null), 1::bigint,
  'the queue of the unlocked jobs is free');

select get_job_batch('worker', batch_size => 9, queue_batch => 3);
update _private_jobs set locked_at = locked_at - interval '5 hours', attempts = 25 where locked_at is not null;
update _private_job_queues set locked_at = locked_at - interval '5 hours';
select reset_stale_locks();
select is(array(select format('%s %s', attempts, last_error) from _private_jobs order by priority),
          '{"25 Worker worker reported no outcome of the last attempt.","24 ","24 "}',
          'reset_stale_locks() counts the attempt of the first job of a queue only');

select * from finish();
rollback;
