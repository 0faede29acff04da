-- A job without attempts left is never claimed, for any reason.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'used up', max_attempts => 1), add_job('task', job_key => 'by hand'),
       add_job('task', queue_name => 'queue', job_key => 'retired');
select fail_job('worker', id, 'no luck', retry_at => now()) from get_job('worker');
update _private_jobs set attempts = max_attempts where key = 'by hand';
update _private_jobs set attempts = max_attempts + 1 where key = 'retired';

select is_empty($$ select id from get_job_batch('worker', batch_size => 9) $$,
  'no job without attempts left is claimed');
update _private_jobs set max_attempts = max_attempts + 1;
select set_eq(
  $$ select key from get_job_batch('worker', batch_size => 9) $$,
  array['used up', 'by hand'],
  'jobs that have used up their attempts are claimed when one more is allowed');

select * from finish();
rollback;
