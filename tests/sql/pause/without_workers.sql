-- Waiting jobs of a paused task are hidden from workers of Graphile Worker for Node.js: some by the pause itself, the others by heartbeats.
-- They see the jobs again afterwards.
begin;
select plan(13);
set local search_path = graphile_worker, public;

-- How many jobs of a task a Node worker may see.
create function pg_temp.seen(task text) returns bigint as $body$
  select count(*) from _private_jobs as j join _private_tasks as t on t.id = j.task_id
   where t.identifier = task and j.is_available and j.job_queue_id is null
$body$ language sql;

select add_job('a', '1'), add_job('a', '2', 'queue'), add_job('b', '3', 'queue'), add_job('b', '4');
select pause(task => 'a');
select is(pg_temp.seen('a'), 0::bigint, 'a Node worker sees no job of a paused task');
select is(pg_temp.seen('b'), 1::bigint, 'a Node worker sees the jobs of other tasks');
select is((select count(*) from _private_jobs where job_queue_id > 0), 2::bigint,
  'a job of the paused task in a queue stays there');
select add_job('a', '5');
select is(pg_temp.seen('a'), 0::bigint, 'a Node worker sees no new job of a paused task');
select resume(task => 'a');
select is(pg_temp.seen('a'), 2::bigint, 'a Node worker sees the jobs of the task when it is resumed');
select pause(task => 'nothing'), resume(task => 'nothing'), resume(task => 'nothing');

-- A running job is left to the workers.
select is((select count(*) from get_job_batch('w', '{a}')), 1::bigint, 'one of the jobs runs');
select pause(task => 'a');
select is((select count(*) from _private_jobs where job_queue_id = -1), 1::bigint,
  'the pause hides the job that does not run');
update _private_jobs set locked_at = null, locked_by = null where locked_by = 'w';
select is(pg_temp.seen('a'), 1::bigint, 'a Node worker sees a job that somebody has unlocked');
select _gw_sweep_pauses();
select is(pg_temp.seen('a'), 0::bigint, 'a heartbeat hides the job that was unlocked');

-- Many jobs, also behind those of other tasks.
select add_jobs(array_fill(row('b', null, null, null, null, null, -1, null)::job_spec, array[6000]));
select add_jobs(array_fill(row('c', null, null, null, null, null, null, null)::job_spec, array[6000]));
select pause(task => 'c');
select is(pg_temp.seen('c'), 6000::bigint, 'a pause of many jobs does not hide them all at once');
select is((select array_agg(_gw_sweep_pauses()) from generate_series(1, 3)), '{t,t,f}',
  'three heartbeats go over all jobs, one after the other');
select is(pg_temp.seen('c'), 0::bigint, 'the heartbeats have hidden all jobs of the paused task');
select resume(task => 'c');
select _gw_sweep_pauses();
select is(pg_temp.seen('c'), 6000::bigint, 'a Node worker sees all jobs after the end of the pause');

select * from finish();
rollback;
