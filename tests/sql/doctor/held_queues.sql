-- A named queue with jobs that have been due for minutes, locked by a worker that is not registered, is reported:
-- stopped Node workers leave such queues. The remedy frees the queue.
begin;
select plan(10);
set local search_path = graphile_worker, public;

create function pg_temp.apply_remedies(kind text)
  returns void
  language plpgsql
as $$
declare
  command text;
begin
  for command in select split_part(d.remedy, ' with: ', 2) from doctor() as d where d.finding = kind loop
    execute command;
  end loop;
end;
$$;

select add_job('task', queue_name => 'queue', job_key => 'runs'),
       add_job('task', queue_name => 'queue', job_key => 'waits'),
       add_job('task', queue_name => 'another', job_key => 'alone');
select get_job('pool-1'), get_job('pool-2');
select register_worker('worker', '{task}');
update _private_job_queues set locked_at = now() - interval '7 minutes';
update _private_jobs set locked_at = now() - interval '7 minutes' where locked_at is not null;
update _private_jobs set run_at = now() - interval '1 day', updated_at = now() - interval '6 minutes';

select results_eq(
  $$ select severity, finding, subject, detail from doctor() $$,
  $$ values ('warning', 'held queue', 'queue queue',
             'Worker pool-1, which is not registered, has held its lock for 00:07:00. Due jobs of the queue: 1, the oldest for '
             '00:06:00. They wait until the job of that worker ends or, if the worker is dead, until the lock is four hours old.') $$,
  'a locked queue is reported if a job behind the running one has been due for minutes');
select is(
  (select remedy from doctor()),
  'If the worker is dead, free its jobs and queues, by gw-run unlock pool-1, or with: '
  'select graphile_worker.force_unlock_workers(array[''pool-1'']);',
  'the remedy is a command and a statement');

update _private_jobs set updated_at = now() - interval '4 minutes' where key = 'waits';
select is_empty($$ select * from doctor() $$,
  'a queue whose job has waited for less than five minutes is not reported');
update _private_jobs set updated_at = now() - interval '6 minutes', run_at = now() + interval '1 hour' where key = 'waits';
select is_empty($$ select * from doctor() $$, 'a queue whose job is not due is not reported');
update _private_jobs set run_at = now() - interval '1 day' where key = 'waits';

update _private_job_queues set locked_at = now() - interval '4 minutes' where queue_name = 'queue';
select is_empty($$ select * from doctor() $$, 'a queue whose lock is less than five minutes old is not reported');
update _private_job_queues set locked_at = now() - interval '7 minutes' where queue_name = 'queue';

select add_job('task', job_key => 'later');
update _private_jobs set locked_at = now() - interval '1 minute', locked_by = 'pool-1' where key = 'later';
select is_empty($$ select * from doctor() $$, 'a queue is not reported if its worker has claimed another job since');
update _private_jobs set locked_by = 'pool-2' where key = 'later';
select isnt_empty($$ select * from doctor() $$, 'a queue is reported although another worker has claimed a job since');

select register_worker('pool-1', '{task}');
select is_empty($$ select * from doctor() $$,
  'a queue of a registered worker is not reported, because others recover the worker');
select deregister_worker('pool-1');

select pg_temp.apply_remedies('held queue');
select is_empty($$ select * from doctor() $$, 'the remedy of a held queue frees it, which ends the finding');
select is((select key from get_job('worker')), 'runs', 'the jobs of the freed queue are claimed');

select * from finish();
rollback;
