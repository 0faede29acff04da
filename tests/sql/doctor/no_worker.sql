-- Jobs that have been due for minutes without any worker are critical. Workers that do not register are recognized by
-- their claims.
begin;
select plan(13);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'first'), add_job('task', job_key => 'second', queue_name => 'queue'),
       add_job('task', job_key => 'future', run_at => now() + interval '1 hour'), add_job('task', job_key => 'failed');
update _private_jobs set attempts = max_attempts where key = 'failed';
update _private_jobs set updated_at = now() - interval '4 minutes';
update _private_jobs set run_at = now() - interval '1 day' where key <> 'future';
select is_empty($$ select * from doctor() $$, 'jobs that were added or changed less than five minutes ago are not reported');

update _private_jobs set updated_at = now() - interval '20 minutes 3 seconds';
select results_eq(
  $$ select severity, finding, subject, detail from doctor() $$,
  $$ values ('critical', 'no worker', 'schema graphile_worker',
             'Due jobs: 2, the oldest for 00:20:03, but no registered worker was seen in the last 5 minutes, and no job was '
             'claimed in that time. They wait until a worker starts.') $$,
  'one finding has the number of due jobs and the time for which they have been due');
select matches((select remedy from doctor()), '^Start a worker, such as gw-run, .* gw-run tasks shows which\.$',
  'the remedy is to start a worker');

select register_worker('worker', '{task}');
select is_empty($$ select * from doctor() $$, 'due jobs are not reported if a worker is registered');
update _gw_workers set last_seen_at = now() - interval '6 minutes';
select results_eq($$ select finding from doctor() $$, array['no worker'],
  'jobs are reported if the registered worker was not seen for minutes');
select register_worker('worker', '{another}');
select results_eq(
  $$ select finding from doctor() $$, array['task without worker'],
  'due jobs of a task that no worker has are another finding');
update _gw_workers set last_seen_at = now() - interval '6 minutes';
select results_eq($$ select finding from doctor() $$, array['no worker'],
  'due jobs are one finding if the worker of another task has died');
select deregister_worker('worker');

select get_job('pool-1');
select is_empty($$ select * from doctor() $$,
  'jobs are not reported if a worker that is not registered has claimed one');
update _private_jobs set locked_at = now() - interval '6 minutes' where locked_at is not null;
update _private_job_queues set locked_at = now() - interval '6 minutes' where locked_at is not null;
select results_eq($$ select finding from doctor() $$, array['no worker'],
  'jobs are reported if no job was claimed for minutes');

update _private_jobs set locked_at = null, locked_by = null;
update _private_job_queues set locked_at = now(), locked_by = 'pool-1';
select isnt_empty($$ select * from doctor() where finding = 'orphaned queue' $$,
  'a queue that is locked without a job is reported');
select is_empty($$ select * from doctor() where finding = 'no worker' $$,
  'the lock of a queue counts as a claim of a worker');
update _private_job_queues set locked_at = now() - interval '6 minutes';
select matches(
  (select detail from doctor() where finding = 'no worker'), '^Due jobs: 1,', 'jobs behind a locked queue are not counted');

update _private_job_queues set locked_at = null, locked_by = null;
select results_eq(
  $$ select severity, detail like 'Due jobs: 2, the oldest for 00:20:03, % in the last 20 minutes, %'
       from _gw_find_no_worker(patience => '20 minutes') $$,
  $$ values ('critical', true) $$,
  'the finding says for how long no job was claimed');

select * from finish();
rollback;
