-- cancel_jobs() permanently fails waiting and running jobs, does not change failed ones, and does not change locks.
begin;
select plan(8);
set local search_path = graphile_worker, public;

select add_job('task', job_key => 'running', queue_name => 'q');
create temp table claimed as select * from get_job('me');
select add_job('task', job_key => 'ready'), add_job('task', job_key => 'scheduled', run_at => now() + interval '1 day'),
       add_job('task', job_key => 'failed'), add_job('task', job_key => 'other'),
       add_job('task', job_key => 'behind', queue_name => 'q');
select permanently_fail_jobs(array(select id from _private_jobs where key = 'failed'), 'no such host');

create temp table canceled as
select * from cancel_jobs(array(select id from _private_jobs where key not in ('other', 'behind')) || '{-1,999}', 'wrong customer');
select set_eq($$ select key from canceled $$, array['running', 'ready', 'scheduled'],
  'waiting and running jobs are returned as canceled');
select set_eq(
  $$ select key, last_error, job_state(run_at, attempts, max_attempts, locked_at) from _private_jobs $$,
  $$ values ('running', 'wrong customer', 'running'), ('ready', 'wrong customer', 'failed'), ('scheduled', 'wrong customer', 'failed'),
            ('failed', 'no such host', 'failed'), ('other', null, 'ready'), ('behind', null, 'ready') $$,
  'canceled jobs that waited have failed, the one that runs still does, all with the reason');
select set_eq(
  $$ select key, attempts - max_attempts from _private_jobs where key in ('ready', 'running', 'failed') $$,
  $$ values ('ready', 0), ('running', 1), ('failed', 0) $$,
  'a canceled job that runs has an attempt too many');
select results_eq(
  $$ select j.locked_by, _gw_lease(j.locked_at), q.locked_by
       from _private_jobs as j join _private_job_queues as q on q.id = j.job_queue_id where j.key = 'running' $$,
  $$ select 'me', lease, 'me' from claimed $$,
  'a canceled job that runs keeps its lock and its queue');
select results_eq($$ select job_id, worker_id, reason from _gw_cancels $$, $$ select id, 'me', 'wrong customer' from claimed $$,
                  'the cancel of a running job is stored for its worker');
select is_empty($$ select * from get_job_batch('you', batch_size => 9) where key <> 'other' $$,
  'no canceled job is claimed, nor the one behind the running job in its queue');

select results_eq($$ select key, last_error from cancel_jobs(array(select id from claimed)) $$, $$ values ('running', 'Canceled') $$,
                  'a running job can be canceled again without a reason');
select results_eq($$ select job_id, reason from _gw_cancels $$, $$ select id, null from claimed $$,
  'the reason of the last cancel is stored');

select * from finish();
rollback;
