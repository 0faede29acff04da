-- If the first job of a task is added during a claim, it is not claimed in spite of its forbidden flags, although the
-- claim did not know the task when it began.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('old', '1'), add_job('old', '2'), add_job('old', '3');
-- A claim calls this after it has looked up the tasks, and before it looks for jobs.
create or replace function _gw_index_reads()
  returns bigint
  language plpgsql
as $$
begin
  if not exists (select from graphile_worker._private_jobs as j where j.key = 'new') then
    perform graphile_worker.add_job('new', '"new"', job_key => 'new', flags => '{a}', priority => -1);
  end if;
  return 0;
end;
$$;

select results_eq(
  $$ select payload::text from get_job_batch('worker', task_forbidden_flags => '{"new": ["a"]}') $$,
  array['1'], 'a claim of all tasks does not take a new job with the forbidden flag');
select is((select count(*) from jobs where task_identifier = 'new'), 1::bigint,
  'the new job was added during the claim');
delete from _private_jobs where key = 'new';
delete from _private_tasks where identifier = 'new';
select results_eq(
  $$ select payload::text from get_job_batch('worker', '{old,new}', task_forbidden_flags => '{"new": ["a"]}') $$,
  array['2'], 'a claim of some tasks does not take a new job with the forbidden flag');
select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 9, task_forbidden_flags => '{"new": ["a"]}') $$,
  array['3'], 'a later claim does not take the job with the forbidden flag, either');
select results_eq(
  $$ select payload::text from get_job_batch('worker', batch_size => 9, task_forbidden_flags => '{"old": ["a"]}') $$,
  array['"new"'], 'a claim without this forbidden flag takes the job');

select * from finish();
rollback;
