-- A job was returned, replaced by its key and claimed again by the same worker: an outcome with the first lease, which
-- is about the old payload, is refused.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_job('task', '{"n": 1}', 'queue', job_key => 'key');
create temp table first as select * from get_job('worker');
select return_job('worker', id, lease) from first;
select add_job('task', '{"n": 2}', 'queue', job_key => 'key');
create temp table second as select * from get_job('worker');
create temp table held as select * from _private_jobs;
select results_eq(
  $$ select s.id = f.id, s.attempts = f.attempts, s.payload::text from first as f, second as s $$,
  $$ values (true, true, '{"n": 2}') $$,
  'the second claim has the same row and the same attempt with another payload');

select ok(not complete_job('worker', id, lease), 'complete_job() refuses the lease of the first claim') from first;
select ok(not exists (select from fail_job('worker', id, 'late', lease)),
  'fail_job() refuses the lease of the first claim') from first;
select ok(not exists (select from return_job('worker', id, lease)),
  'return_job() refuses the lease of the first claim') from first;
select is_empty(
  $$ select complete_job_batch('worker', array[id], array[lease]) from first
      union all
     select (return_job_batch('worker', array[id], array[lease])).id from first
      union all
     select (fail_job_batch('worker', json_build_array(json_build_object('id', id, 'lease', lease, 'message', 'late')))).id
       from first $$,
  'the functions of batches refuse the lease of the first claim');

select results_eq(
  $$ select j::text from _private_jobs as j $$,
  $$ select h::text from held as h $$,
  'refused outcomes leave the job unchanged');
select is((select locked_by from _private_job_queues), 'worker', 'refused outcomes leave the queue locked');
select ok(complete_job('worker', id, lease), 'the lease of the second claim completes the job') from second;

select * from finish();
rollback;
