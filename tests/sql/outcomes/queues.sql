-- Each outcome frees the job's queue, but only if the worker holds it; other queues stay locked.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('task', queue_name => q)
  from unnest(array['a complete', 'b fail', 'c return', 'd complete', 'e fail', 'f return', 'g running']) as q;
create temp table claimed as select * from get_job_batch('worker', batch_size => 9);
create function pg_temp.free()
  returns text
  language sql
as $$
  select string_agg(left(queue_name, 1), '' order by queue_name) from _private_job_queues where is_available
$$;

select complete_job('worker', id, lease) from claimed where queue_name = 'a complete';
select is(pg_temp.free(), 'a', 'complete_job() frees the queue of its job');
select fail_job('worker', id, 'no luck', lease) from claimed where queue_name = 'b fail';
select is(pg_temp.free(), 'ab', 'fail_job() frees the queue of its job');
select return_job('worker', id, lease) from claimed where queue_name = 'c return';
select is(pg_temp.free(), 'abc', 'return_job() frees the queue of its job');
select complete_job_batch('worker', array[id], array[lease]) from claimed where queue_name = 'd complete';
select is(pg_temp.free(), 'abcd', 'complete_job_batch() frees the queue of its job');
select fail_job_batch('worker', json_build_array(json_build_object('id', id))) from claimed where queue_name = 'e fail';
select is(pg_temp.free(), 'abcde', 'fail_job_batch() frees the queue of its job');
select return_job_batch('worker', array[id]) from claimed where queue_name = 'f return';
select is(pg_temp.free(), 'abcdef', 'return_job_batch() frees the queue of its job');

update _private_job_queues set locked_by = 'another' where queue_name = 'g running';
select complete_job('worker', id, lease) from claimed where queue_name = 'g running';
select is(pg_temp.free(), 'abcdef', 'complete_job() does not free a queue that another worker holds by now');

select * from finish();
rollback;
