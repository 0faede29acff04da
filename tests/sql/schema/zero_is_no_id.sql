-- Ids begin at 1, and the indexes of jobs in queues, of lanes and of suspects have no others. A row with the id 0, which only a hand can
-- have made, is none of these: nothing counts it, and nothing is lost if it is there.
begin;
select plan(27);
set local search_path = graphile_worker, public;

\ir ../calls.psql
create function pg_temp.claim(tasks text[] default null) returns _gw_claim language sql as $$
  select _gw_new_claim('worker', tasks, 1, null, now(), null, null, 1)
$$;

-- Suspects and canceled jobs.
insert into _gw_suspects (job_id) values (0);
insert into _gw_cancels (job_id, worker_id) values (0, 'worker');
select add_job('task'), register_worker('worker');
select is((select count(*) from get_job_batch('worker')), 1::bigint, 'a job is claimed in spite of the rows with id 0');
select is(pg_temp.calls('{_gw_claim_others}'), 0::bigint,
  'a suspect with id 0 does not make the claim look for others');
select count(*) from get_job('worker');
select is(pg_temp.calls('{get_job_alone,_gw_runs_alone}'), 0::bigint,
  'a suspect with id 0 does not make get_job look for suspects');
select heartbeat('worker');
select deregister_worker('worker');
select is(pg_temp.calls('{_gw_drop_ended}'), 0::bigint,
  'a suspect with id 0 is not looked for among those that have ended');
insert into _private_jobs (id, task_id, locked_at, locked_by, attempts) overriding system value
select 0, id, now(), 'worker', 26 from _private_tasks;
select is_empty($$ select job_id from _gw_canceled_jobs('worker') $$, 'a canceled job with id 0 is not returned');
delete from _private_jobs;
delete from _gw_suspects;
delete from _gw_cancels;

-- Queues.
insert into _private_job_queues (id, queue_name) overriding system value values (0, 'zero');
insert into _private_jobs (task_id, job_queue_id) select id, 0 from _private_tasks;
select is_empty($$ select id from get_job_batch('worker') $$, 'no job of a queue with id 0 is claimed');
select is(_gw_front_queues(pg_temp.claim(), null, _gw_next_queues(17), null), '{}',
  'a search does not find a queue with id 0');
select add_job('task', queue_name => 'one', job_key => 'one');
select is(t.queue_ids, array(select id from _private_job_queues where queue_name = 'one'),
  'a search by tasks does not find a queue with id 0')
  from _gw_queues_by_task(pg_temp.claim('{task}'), row(9, 'infinity', 0, null)::_gw_place) as t;
select remove_job('one'), add_job('task', job_key => 'plain');
select is(_gw_tasks_in_queues(array(select id from _private_tasks)), '{}',
  'a task with jobs in a queue with id 0 has none in queues');
update _private_jobs set run_at = now() + interval '1 hour' where job_queue_id = 0;
select is(next_run_at(), null, 'a job in a queue with id 0 has no next due time');
select remove_job('plain');
select is(_gw_queue_name(0, 1), null, 'a queue with id 0 has no name');
update _private_jobs set locked_at = now() - interval '2 hours', locked_by = 'worker';
update _private_job_queues set locked_at = now() - interval '2 hours', locked_by = 'worker';
select renew_leases('worker', array[j.id], array[_gw_lease(j.locked_at)]) from _private_jobs as j;
select is((select now() - locked_at from _private_jobs), interval '2 hours',
  'the locks of a job in a queue with id 0 are not renewed');
insert into _private_jobs (task_id, job_queue_id, locked_at, locked_by) select task_id, 0, locked_at, 'worker' from _private_jobs;
select is(_gw_unstarted_jobs(array(select id from _private_jobs)), '{}',
  'jobs in a queue with id 0 are not jobs that have not started');
update _private_job_queues set locked_by = 'other';
select pg_temp.calls('{_gw_wake}') as told \gset
select _gw_release('worker', array(select row(id, 0, locked_at)::_gw_ended_job from _private_jobs), 'ended');
select is(pg_temp.calls('{_gw_wake}'), :told::bigint, 'the end of jobs in a queue with id 0 notifies nobody');

-- Queues whose jobs are limited.
select set_limit('l', '{task}', by => 'payload:k', max_running => 1);
delete from _private_jobs where id = (select max(id) from _private_jobs);
select add_job('task', '{"k":1}');
select count(*) from get_job_batch('worker');
insert into _gw_queued_lanes (job_id, lane_id) select j.id, l.id from _private_jobs as j, _gw_lanes as l where j.job_queue_id = 0 and l.gates <> '{}';
select _gw_settle('{task}');
select is((select count(*) from _gw_queued_lanes), 1::bigint,
  'a change of limits keeps the lane of a job in a queue with id 0');
select _gw_release_gates(array(select row(job_id, 0, now())::_gw_ended_job from _gw_queued_lanes), 'ended');
select is((select count(*) from _gw_queued_lanes), 1::bigint, 'the end of a job in a queue with id 0 keeps its lane');
select rate_limited('worker', j.id, null, interval '1 hour') from _private_jobs as j where j.job_queue_id = 0;
select is((select count(*) from _gw_gate_ends), 0::bigint, 'a refused job in a queue with id 0 closes no lane');
delete from _gw_queued_lanes;
update _private_jobs set locked_at = now(), locked_by = 'worker', payload = '{"k":1}' where job_queue_id = 0;
select _gw_give_lanes(array(select id from _private_jobs where job_queue_id = 0));
select is((select count(*) from _gw_queued_lanes), 0::bigint, 'a job in a queue with id 0 gets no lane');
update _private_jobs set locked_at = null, locked_by = null, run_at = now() where job_queue_id = 0;
delete from _private_jobs where job_queue_id < 0;
select add_job('task', queue_name => 'one', run_at => now() + interval '1 hour');
update _private_job_queues set locked_at = null, locked_by = null;
select is(_gw_limited_tasks(array(select id from _private_tasks), array(select id from _private_tasks), now(), now()), null,
  'a task with jobs in a queue with id 0 has no work under the limit');

-- Limits and gates.
insert into _private_tasks (identifier) values ('third');
insert into _gw_limits (id, name, max_running, generation) overriding system value values (0, 'zero', 1, 7);
select is(_gw_tasks_under_limits(array(select id from _private_tasks where identifier = 'third')), '{}',
  'a limit with id 0 applies to no task');
update _gw_limits set tasks = '{third}' where id = 0;
select is(_gw_tasks_under_limits(array(select id from _private_tasks where identifier = 'third')), '{}',
  'a limit with id 0 and a list of tasks applies to no task');
delete from _gw_limits where id < 1;
update _gw_lanes set gate = null;
select is(_gw_place_lanes(array(select id from _gw_lanes), now()), null, 'an empty lane waits for nothing');
delete from _private_jobs;
select add_job('task', '{"k":1}'), add_job('task', '{"k":1}');
select set_limit('l', '{task}', max_running => 1);
select count(*) from get_job_batch('worker');
delete from _gw_gate_ends;
insert into _gw_gate_ends (limit_id, gate_id) select limit_id, id from _gw_gates;
select is(_gw_limited_tasks(array(select id from _private_tasks), array(select id from _private_tasks), now(), clock_timestamp()), null,
          'gate ends of 0 jobs let no job start');

-- A pause of everything, which is none of a limit.
select set_limit('keys', '{keyed}', by => 'payload:k', max_running => 1);
select add_job('keyed', '{"k":1}'), add_job('keyed', '{"k":1}');
select count(*) from get_job_batch('worker', '{keyed}');
select pg_temp.calls('{_gw_lock_limits}') as locks \gset
select rate_limited('worker', id, null, interval '1 hour') from jobs where task_identifier = 'keyed' and locked_by is not null;
select count(*) from get_job_batch('worker', '{keyed}', now => clock_timestamp());
delete from _gw_gate_ends;
select pause(), resume();
select is(pg_temp.calls('{_gw_lock_limits}'), :locks::bigint, 'a pause of everything waits for no limit');
select is((select count(*) from _gw_gate_ends), 0::bigint, 'the end of a pause of everything stores no gate ends');
select is(open_lane('keys', '2'), 0::bigint, 'open_lane() opens no lane that does not exist');
select is((select count(*) from _gw_audit where act = 'open lane'), 0::bigint,
  'a call of open_lane() that opens nothing is not recorded');

select * from finish();
rollback;
