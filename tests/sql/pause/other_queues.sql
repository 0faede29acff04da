-- While the jobs of a queue are moved because it is paused, the other named queues continue.
begin;
select plan(3);
set local search_path = graphile_worker, public;

create function pg_temp.next(batch integer)
  returns text
  language sql
as $$
  select string_agg(b.queue_name, ', ' order by b.id) from get_job_batch('worker', batch_size => batch) as b
$$;

select add_job('a', queue_name => q) from unnest('{paused, q1, q2, q3}'::text[]) as q;
select pause(queue => 'paused');
-- As if a transaction had added the job that began before the pause.
update _private_jobs set job_queue_id = (select q.id from _private_job_queues as q where q.queue_name = 'paused') where job_queue_id < 0;
select is(pg_temp.next(1), 'q1', 'one job is claimed');
select is((select w.reason from jobs as j, why(j.id) as w where j.queue_name = 'paused'), 'paused', 'while the jobs of the paused queue are moved');
select is(pg_temp.next(10), 'q2, q3', 'several are');

select * from finish();
rollback;
