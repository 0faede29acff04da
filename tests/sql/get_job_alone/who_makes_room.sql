-- heartbeat() reports to all workers with its task that a job waits to run alone. One of the busy workers makes room for it,
-- for one heartbeat interval; workers that may not run it do not.
begin;
select plan(17);
set local search_path = graphile_worker, public;

\ir ../suspect.psql

create function pg_temp.told(worker text) returns boolean language sql as $$ select alone_waits from heartbeat(worker) $$;
-- As if so much time had passed.
create function pg_temp.pass(beats integer) returns void language sql as $$
  update _gw_suspects set room_at = room_at - beats * _gw_beat_every()
$$;

select register_worker('a', '{other}'), register_worker('b', '{task}'), register_worker('c');
select add_job('task', job_key => 'suspect', flags => '{flag}');
select pg_temp.suspect(id) from jobs;

select is(pg_temp.told('a'), false, 'a worker without the task is not told that a suspect waits');
select is(pg_temp.told('b'), true, 'a worker with the task is told that a suspect waits');
select is(pg_temp.told('c'), true, 'a worker with all tasks is told that a suspect waits');
select is(make_room('{other}'), null, 'a worker without the task makes no room');
select is(make_room('{task}', '{flag}'), null, 'a worker that forbids the flag of the suspect makes no room');
select is(make_room('{task}', task_forbidden_flags => '{"task": ["flag"]}'), null,
  'a worker that forbids the flag for the task makes no room');
select is(make_room('{task}', now => '-infinity'), null, 'no worker makes room for a suspect that is not due');
select is_empty($$ select id from get_job_alone('c', beside => true) $$,
  'the suspect does not run with other jobs before a worker made room');
select is(make_room('{task}', '{another}'), interval '5 seconds',
  'a worker that may run the suspect makes room for a heartbeat interval');
select is(make_room(), null, 'a second worker makes no room');
select is_empty($$ select id from get_job_alone('c', beside => true) $$,
  'the suspect does not run with other jobs while a worker makes room');
select pg_temp.pass(1);
select is(make_room(), null, 'no worker makes room a second time');
select is_empty($$ select id from get_job_alone('c', '{task}', '{flag}', beside => true) $$,
  'the suspect does not run on a worker that forbids its flag');
update _private_jobs set run_at = now() + interval '1 hour';
select is(pg_temp.told('c'), false, 'no worker is told of a suspect that is not due');
update _private_jobs set run_at = now();
select results_eq($$ select key from get_job_alone('c', beside => true) $$, array['suspect'],
  'the suspect runs with other jobs after a worker made room');
select is(pg_temp.told('b'), false, 'no worker is told of a suspect that runs');

-- One that has to be alone.
select return_job('c', id) from _private_jobs;
update _gw_suspects set strict = true, room_at = null;
create temp table rooms as
select beats, make_room() as room, (select id from get_job_alone('c', beside => true)) as id, pg_temp.pass(1)::text
  from generate_series(0, 26) as beats;
select results_eq($$ select array_agg(beats order by beats) filter (where room is not null), count(id) from rooms $$,
                  $$ values ('{0,12,24}'::integer[], 0::bigint) $$,
                  'a strict suspect gets room once in a dozen heartbeats, and never runs with other jobs');

select * from finish();
rollback;
