-- DELETE_PERMAFAILED_JOBS deletes the jobs that cannot run again, including retired ones, which may have one attempt
-- more than their maximum; running jobs are kept.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select add_job('task', job_key => k, max_attempts => 3)
  from unnest(array['waiting', 'retrying', 'failed', 'retired', 'last attempt', 'retired, running']) as k;
update _private_jobs set attempts = case key when 'waiting' then 0
                                             when 'retrying' then 2
                                             when 'retired' then 4
                                             when 'retired, running' then 4
                                             else 3 end;
update _private_jobs set locked_at = now(), locked_by = 'worker' where key in ('last attempt', 'retired, running');

select results_eq(
  $$ select task, rows from cleanup('{DELETE_PERMAFAILED_JOBS}') $$,
  $$ values ('DELETE_PERMAFAILED_JOBS', 2::bigint) $$,
  'cleanup() returns the number of deleted jobs');
select set_eq(
  $$ select key from _private_jobs $$,
  array['waiting', 'retrying', 'last attempt', 'retired, running'],
  'only failed and retired jobs that are not running are deleted');
select isnt_empty($$ select id from _private_tasks $$, 'deleting failed jobs deletes no task names');
select results_eq(
  $$ select task, rows from cleanup('{DELETE_PERMAFAILED_JOBS}') $$,
  $$ values ('DELETE_PERMAFAILED_JOBS', 0::bigint) $$,
  'a second call deletes no job');

select * from finish();
rollback;
