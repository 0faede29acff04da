-- A suspect of a paused task or queue waits, and no worker makes room for it.
begin;
select plan(9);
set local search_path = graphile_worker, public;

\ir ../suspect.psql
select register_worker('worker');
select add_job('task', job_key => 'plain'), add_job('other', job_key => 'queued', queue_name => 'q');
select pg_temp.suspect(id) from jobs;

select pause(task => 'task'), pause(queue => 'q');
select is((select alone_waits from heartbeat('worker')), false, 'none waits');
select is(make_room(), null, 'nor is there room to make');
select is_empty($$ select key from get_job_alone('worker') $$, 'none starts');
select resume(task => 'task');
select is((select alone_waits from heartbeat('worker')), true, 'after the end of one pause');
select results_eq($$ select key from get_job_alone('worker') $$, array['plain'], 'one starts');
select complete_job('worker', id) from jobs where key = 'plain';
select resume(queue => 'q'), pause();
select is_empty($$ select key from get_job_alone('worker') $$, 'a pause of everything is one of them');
select resume();
select results_eq($$ select key from get_job_alone('worker') $$, array['queued'], 'after all of them');
select pause(queue => 'q');
select complete_job('worker', id) from jobs where key = 'queued';
select is((select locked_by from _private_job_queues where queue_name = 'q'), 'pause', 'its queue goes to the pause');
select is_empty($$ select job_id from _gw_suspects as s where s.worker_id is distinct from 'worker' $$, 'nothing is left to run');

select * from finish();
rollback;
