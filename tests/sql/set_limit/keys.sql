-- A job that is replaced by its key moves to the lane of the new payload.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select set_limit('tenants', by => 'payload:tenant', max_running => 1);
select get_job_batch('worker') from generate_series(1, 3);
select add_job('task', '{"tenant":1}');
select add_job('task', '{"tenant":1}', job_key => 'key');
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 1::bigint,
  'a job runs in the only lane, which is full');
select add_job('task', '{"tenant":2}', job_key => 'key');
select results_eq($$ select key from get_job_batch('worker', batch_size => 9) $$, array['key'],
  'a job that is replaced moves to the lane of its new payload');
select add_jobs(array[row('task', '{"tenant":3}', null, null, null, 'key', null, null)::job_spec,
                      row('task', '{"tenant":3}', null, null, null, 'second', null, null)::job_spec,
                      row('task', null, null, null, null, 'third', null, null)::job_spec]);
select is((select count(*) from get_job_batch('worker', batch_size => 9)), 2::bigint,
  'jobs that add_jobs() replaces or adds start in their lanes or without one');
select is((select count(*) from jobs where locked_by is not null), 4::bigint,
  'running jobs keep their slots when their keys are replaced');

select * from finish();
rollback;
