-- A batch completes the jobs that the worker still holds and returns their ids; the others are not an error.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select add_job('task', to_json(n), case when n > 2 then 'queue' || n end) from generate_series(1, 4) as n;
create temp table claimed as
select id, lease, payload::text::integer as n from get_job_batch('worker', batch_size => 9);
select return_job('worker', id) from claimed where n in (2, 4);
select get_job('worker');

select set_eq(
  $$ select n
       from (select complete_job_batch('worker', array_agg(id) || 0::bigint, array_agg(lease) || 0::bigint) as id
               from claimed) as done
       join claimed using (id) $$,
  array[1, 3],
  'jobs that were claimed anew, returned or never existed are not completed');
select set_eq($$ select payload::text::integer from _private_jobs $$, array[2, 4],
  'jobs that the worker does not hold are still there');
select is((select count(*) from _private_jobs where locked_by = 'worker'), 1::bigint,
  'the job that was claimed anew stays locked by its worker');
select is((select count(complete_job_batch) from claimed cross join complete_job_batch('worker', array[id]) where n = 2),
          1::bigint, 'the worker can complete its job without a lease');

select * from finish();
rollback;
