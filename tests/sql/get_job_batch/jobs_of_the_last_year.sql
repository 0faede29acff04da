-- A claim that skips many jobs and finds only one that is due in the last years of time returns nothing, and does not fail.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select count(*) from add_jobs(array(select row('other', null, null, null, null, null, null, null)::job_spec from generate_series(1, 3000)));
select add_job('task', run_at => '294276-12-31');
select is_empty($$ select id from get_job_batch('worker', '{task}') $$, 'no job of the last year is due');
select is_empty($$ select id from get_job_batch('worker', '{task}') $$,
  'the next claim finds no job that is due, either');

select * from finish();
rollback;
