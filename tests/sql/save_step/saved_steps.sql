-- A step that was saved is kept for the next attempts of its job. Only the worker that holds the job saves steps.
begin;
select plan(20);
set local search_path = graphile_worker, public;
alter sequence jobs_id_seq1 restart;

create function pg_temp.steps(job bigint)
  returns text
  language sql
as $$
  select string_agg(s.name || '=' || s.result, ' ') from job_steps(job) as s
$$;

select add_job('task', job_key => 'k');
create temp table claimed as select * from get_job('w');
select is(pg_temp.steps(1), null, 'a job has no steps at first');
select is(save_step('w', 1, (select lease from claimed), 'b', '{"n": 1e1000}')::text, '{"n": 1e1000}', 'save_step returns the result as it was given');
select is(save_step('w', 1, (select lease from claimed), 'b', '2')::text, '{"n": 1e1000}',
  'a step that is saved again keeps its first result');
select is(save_step('w', 1, null, 'a')::text, 'null', 'a step need not have a result, and the lease is optional');
select is(pg_temp.steps(1), 'b={"n": 1e1000} a=null', 'the steps come in the order in which they were saved');
select is((select steps from show_jobs('{1}')), '{b,a}'::text[], 'show_jobs() names the saved steps');

select throws_ok($$ select save_step('w', 1, 7, 'c', '1') $$, 'GWWLL', null,
  'save_step() with another lease is refused');
select throws_ok($$ select save_step('other', 1, null, 'c', '1') $$, 'GWWLL', null,
  'save_step() by a worker that does not hold the job is refused');
select throws_ok($$ select save_step('w', 2, null, 'c', '1') $$, 'GWWLL', null,
  'save_step() for a job that does not exist is refused');
select is(pg_temp.steps(1), 'b={"n": 1e1000} a=null', 'refused calls save no step');

select fail_job('w', 1, 'no luck', retry_in => '0');
select is(pg_temp.steps(1), 'b={"n": 1e1000} a=null', 'a failed job keeps its steps');
select throws_ok($$ select save_step('w', 1, null, 'c', '1') $$, 'GWWLL', null,
  'a worker that has reported the outcome cannot save a step');
select retry_jobs('{1}');
select get_job('w2');
select return_job('w2', 1);
select is(pg_temp.steps(1), 'b={"n": 1e1000} a=null', 'a returned job keeps its steps');
select add_job('task', job_key => 'k', job_key_mode => 'unsafe_dedupe');
select is(pg_temp.steps(1), 'b={"n": 1e1000} a=null',
  'a job that is requested again without being replaced keeps its steps');
select get_job('w2');
select add_job('task', job_key => 'k', job_key_mode => 'unsafe_dedupe');
select save_step('w2', 1, null, 'c', '3');
select is(pg_temp.steps(1), 'b={"n": 1e1000} a=null c=3',
  'a job that is requested again while it runs can save a step');
select force_unlock_workers('{w2}');
select is(pg_temp.steps(1), 'b={"n": 1e1000} a=null c=3', 'a freed job keeps its steps');

select add_job('task', job_key => 'k');
select is(pg_temp.steps(1), null, 'a replaced job has no steps');
select get_job('w3');
select is(save_step('w3', 1, null, 'b', '4')::text, '4', 'a replaced job can save a step of its own');
select is(pg_temp.steps(1), 'b=4', 'a replaced job has only its own steps');

select complete_job('w3', 1);
select is((select count(*) from job_steps(1)), 0::bigint, 'a completed job has no steps');

select * from finish();
rollback;
