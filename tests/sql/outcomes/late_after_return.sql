-- A job was returned and claimed again by the same worker: an outcome with the first lease is refused and does not
-- affect the second claim. attempts cannot distinguish these claims, the lease can.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_job('task', '{"n": 1}', 'queue');
create temp table first as select * from get_job('worker');
select return_job('worker', id, lease) from first;
create temp table second as select * from get_job('worker');
create temp table held as select * from _private_jobs;
select is((select attempts from second), (select attempts from first), 'both claims count the same attempt');

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
