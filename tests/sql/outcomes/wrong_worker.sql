-- Only the worker that holds a job can report its outcome, with or without a lease; a waiting job has no outcome.
begin;
select plan(7);
set local search_path = graphile_worker, public;

select add_job('task', '{"n": 1}', 'queue');
create temp table claimed as select * from get_job('worker');
create temp table held as select * from _private_jobs;

create function pg_temp.reported_by(worker_id text, lease bigint)
  returns setof text
  language sql
as $$
  select 'complete_job' from held where complete_job(worker_id, id, lease)
   union all
  select 'fail_job' from held where exists (select from fail_job(worker_id, id, 'late', lease))
   union all
  select 'return_job' from held where exists (select from return_job(worker_id, id, lease))
   union all
  select 'complete_job_batch' from held cross join complete_job_batch(worker_id, array[id], array[lease])
   union all
  select 'fail_job_batch'
    from held cross join fail_job_batch(worker_id, json_build_array(json_build_object('id', id, 'lease', lease)))
   union all
  select 'return_job_batch' from held cross join return_job_batch(worker_id, array[id], array[lease])
$$;

select is_empty($$ select pg_temp.reported_by('other', lease) from claimed $$,
  'another worker with the lease cannot report an outcome');
select is_empty($$ select pg_temp.reported_by('other', null) $$,
  'another worker without a lease cannot report an outcome');
select is_empty($$ select pg_temp.reported_by(null, lease) from claimed $$,
  'a worker that is null cannot report an outcome');
select is_empty($$ select pg_temp.reported_by('worker', lease + 1) from claimed $$,
  'the worker with another lease cannot report an outcome');
select results_eq(
  $$ select j::text from _private_jobs as j $$,
  $$ select h::text from held as h $$,
  'refused reports leave the job unchanged');

select ok(exists (select from return_job('worker', id)), 'the worker can return its job without a lease') from claimed;
select is_empty(
  $$ select pg_temp.reported_by('worker', lease) from claimed union all select pg_temp.reported_by('worker', null) $$,
  'no worker holds a waiting job');

select * from finish();
rollback;
