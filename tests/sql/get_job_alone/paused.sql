-- A suspect of a paused task or queue waits, and no worker makes room for it.
begin;
select plan(9);
set local search_path = graphile_worker, public;

\ir ../suspect.psql
select register_worker('worker');
select add_job('task', job_key => 'plain'), add_job('other', job_key => 'queued', queue_name => 'q');
select pg_temp.suspect(id) from jobs;

select pause(task => 'task'), pause(queue => 'q');
select is((select alone_waits from heartbeat('worker')), false,
  'heartbeat() does not tell of suspects that are paused');
select is(make_room(), null, 'no room is made for suspects that are paused');
select is_empty($$ select key from get_job_alone('worker') $$, 'a paused suspect is not claimed');
select resume(task => 'task');
select is((select alone_waits from heartbeat('worker')), true,
  'heartbeat() tells of a suspect when its task is resumed');
select results_eq($$ select key from get_job_alone('worker') $$, array['plain'],
  'the suspect of the resumed task is claimed');
select complete_job('worker', id) from jobs where key = 'plain';
select resume(queue => 'q'), pause();
select is_empty($$ select key from get_job_alone('worker') $$, 'no suspect is claimed while everything is paused');
select resume();
select results_eq($$ select key from get_job_alone('worker') $$, array['queued'],
  'the suspect in the queue is claimed after the end of all pauses');
select pause(queue => 'q');
select complete_job('worker', id) from jobs where key = 'queued';
select is((select locked_by from _private_job_queues where queue_name = 'q'), 'pause',
  'the queue goes to the pause when its suspect has ended');
select is_empty($$ select job_id from _gw_suspects as s where s.worker_id is distinct from 'worker' $$,
  'no suspect is left to be claimed');

select * from finish();
rollback;
