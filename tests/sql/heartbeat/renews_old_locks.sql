-- A heartbeat renews locks of jobs and their queues that are older than an hour, and returns the new leases.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select register_worker('worker');
select add_job('task', job_key => 'old', queue_name => 'q'), add_job('task', job_key => 'new');
create temp table claimed as select * from get_job_batch('worker', batch_size => 9);
update _private_jobs set locked_at = locked_at - interval '61 minutes' where key = 'old';
update _private_job_queues set locked_at = locked_at - interval '61 minutes';
update claimed set lease = lease - 3660000000 where key = 'old';
create temp table held as
select u.id, u.lease
  from heartbeat('worker', array(select id from claimed order by id), array(select lease from claimed order by id)) as b,
       unnest(b.held_ids, b.held_leases) as u (id, lease);

select ok(h.lease > c.lease,
  'the old lease is replaced by a later one') from held as h join claimed as c using (id) where c.key = 'old';
select is(h.lease, c.lease,
  'a lease that is less than an hour old is not replaced') from held as h join claimed as c using (id) where c.key = 'new';
select ok(q.locked_at > now() - interval '1 minute',
  'the queue of a renewed job is renewed, too') from _private_job_queues as q;
select ok(complete_job('worker', id, lease), 'the returned leases complete the jobs') from held order by id;

select * from finish();
rollback;
