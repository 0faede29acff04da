-- The jobs of a queue that a claim holds together are renewed together, with the queue, or not at all.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => 'q') from generate_series(1, 3);
select add_job('task', queue_name => 'single');
create temp table claimed as select id, lease, row_number() over (order by id) as number from get_job_batch('worker', batch_size => 9, queue_batch => 3);
update _private_jobs set locked_at = locked_at - interval '61 minutes';
update _private_job_queues set locked_at = locked_at - interval '61 minutes';
update claimed set lease = lease - 61 * 60 * 1000000::bigint;
create function pg_temp.renew(numbers integer[]) returns bigint language sql as $$
  with renewed as (
    select r.job_id, r.lease
      from graphile_worker.renew_leases('worker', array(select c.id from claimed as c where c.number = any (numbers) order by c.id),
                                        array(select c.lease from claimed as c where c.number = any (numbers) order by c.id)) as r
  )
  update claimed as c set lease = r.lease from renewed as r where r.job_id = c.id;
  select count(*) from graphile_worker._private_jobs where locked_at > now() - interval '1 hour'
$$;

select is(pg_temp.renew('{1,2}'), 0::bigint, 'two of the three jobs of a queue are not renewed without the third');
select is(pg_temp.renew('{1,2,3,4}'), 4::bigint, 'the three jobs of a queue are renewed together');
select is(max(locked_at) - (select locked_at from _private_job_queues where queue_name = 'q'), interval '2 microseconds',
  'the locked_at of the queue still counts three jobs')
  from _private_jobs;
select is(max(locked_at), (select locked_at from _private_job_queues where queue_name = 'single'),
  'the locked_at of a queue with one job is that of its job')
  from _private_jobs;
select complete_job('worker', id, lease) from claimed where number in (1, 3, 4);
select is(array(select queue_name from _private_job_queues where locked_at is null), array['single'],
  'the queue with one job is free, the other one still has a job');
select ok(complete_job('worker', id, lease),
  'the last job of the queue has the renewed lease') from claimed where number = 2;
select is((select count(*) from _private_job_queues where locked_at is null), 2::bigint,
  'both queues are free when all jobs have ended');

select * from finish();
rollback;
