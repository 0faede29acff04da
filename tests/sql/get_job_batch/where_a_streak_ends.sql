-- Of the jobs of a queue that are claimed together only the first may have a key, may have failed before, or be a suspect; a job
-- that does not suit is passed over.
begin;
select plan(7);
set local search_path = graphile_worker, public;

create function pg_temp.claim() returns setof text language sql as $$
  select b.payload #>> '{}' from graphile_worker.get_job_batch('worker', '{task}', 9, '{no}', queue_batch => 9) as b
$$;
select add_job('task', '1', 'q'), add_job('task', '2', 'q', job_key => 'k'), add_job('task', '3', 'q'), add_job('task', '4', 'q'),
       add_job('other', '"of another task"', 'q'), add_job('task', '"forbidden"', 'q', flags => '{no}'),
       add_job('task', '"in the future"', 'q', run_at => now() + interval '1 hour'), add_job('task', '5', 'q');

select results_eq($$ select pg_temp.claim() $$, array['1'],
  'a job with a key is not claimed together with the job in front');
select is((select payload::text from remove_job('k')), '2', 'a job with a key can be removed while it waits');
select is_empty($$ select 1 from _private_jobs where key = 'k' $$, 'a removed job with a key is deleted');
select add_job('task', '2', 'q', job_key => 'k', priority => -1);
select complete_job('worker', id) from _private_jobs where payload::text = '1';
select results_eq($$ select pg_temp.claim() $$, array['2', '3', '4', '5'],
  'a job with a key can be the first of those that are claimed together');
select complete_job('worker', id) from _private_jobs where payload::text = '2';
select fail_job('worker', id, 'failed', retry_in => '0') from _private_jobs where payload::text = '3';
select return_job('worker', id) from _private_jobs where payload::text in ('4', '5');
update _private_jobs set run_at = now() - interval '1 minute' where payload::text = '4'; -- 4, 3, 5
select results_eq($$ select pg_temp.claim() $$, array['4'],
  'a job that has failed before is not claimed together with the job in front');
select complete_job('worker', id) from _private_jobs where payload::text = '4';
select results_eq($$ select pg_temp.claim() $$, array['3', '5'],
  'a job that has failed before can be the first of those that are claimed together');
select is((select sum(attempts) from _private_jobs where payload::text = '3'), 2::bigint,
  'the job that has failed before is in its second attempt');

select * from finish();
rollback;
