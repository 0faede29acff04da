-- A worker asks which jobs it still holds; old locks of jobs and queues get a new lease.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => k, job_key => k)
  from unnest(array['old', 'new', 'returned', 'claimed anew', 'of another']) as k;
create temp table claimed as select * from get_job_batch('worker', batch_size => 9);
update _private_jobs set locked_at = now() - interval '61 minutes' where key = 'old';
update _private_job_queues set locked_at = now() - interval '61 minutes' where queue_name = 'old';
update claimed set lease = (extract(epoch from now() - interval '61 minutes') * 1000000)::bigint where key = 'old';
select return_job('worker', id) from claimed where key in ('claimed anew', 'returned');
select get_job('worker', now => now()) from claimed where key = 'claimed anew';
update _private_jobs set locked_by = 'another' where key = 'of another';
create temp table held as
select r.job_id, r.lease
  from renew_leases('worker', array(select id from claimed order by id), array(select lease from claimed order by id)) as r;

select set_eq(
  $$ select c.key from held as h join claimed as c on c.id = h.job_id $$,
  array['old', 'new'],
  'only the jobs that the worker still holds are returned');
select ok(h.lease = c.lease, 'a fresh lease does not change')
  from held as h join claimed as c on c.id = h.job_id where c.key = 'new';
select ok(h.lease > c.lease, 'an old lease is replaced by a later one')
  from held as h join claimed as c on c.id = h.job_id where c.key = 'old';
select is(q.locked_at, j.locked_at, 'the queue of a renewed job has the same locked_at')
  from _private_job_queues as q join _private_jobs as j on j.key = q.queue_name where j.key = 'old';
select is((select count(*) from renew_leases('worker', array[h.job_id], array[h.lease], '178000000 years')), 1::bigint,
  'a held job is returned if older_than is 178000000 years')
  from held as h limit 1;
select is(reset_stale_locks('1 hour'), 0::bigint, 'a sweep does not free the renewed lock');
select ok(not complete_job('worker', id, lease),
  'the old lease does not complete the job') from claimed where key = 'old';
select ok(complete_job('worker', h.job_id, h.lease), 'the new lease completes the job')
  from held as h join claimed as c on c.id = h.job_id where c.key = 'old';

select * from finish();
rollback;
