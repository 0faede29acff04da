-- What the parts of a claim under limits return at their bounds.
begin;
select plan(50);
set local search_path = graphile_worker, public;
\ir ../clock.psql

create function pg_temp.claim(batch integer default 1) returns _gw_claim language sql as $$
  select _gw_new_claim('worker', null, batch, null, now(), null, null, 1)
$$;
create function pg_temp.task(name text) returns integer language sql as $$ select id from _private_tasks where identifier = name $$;
create function pg_temp.work(names text[] default '{task}', due timestamptz default now()) returns text language sql as $$
  select string_agg(i.identifier, ' ' order by i.identifier)
    from (select array(select id from _private_tasks where identifier = any (names)) as ids) as t
   cross join unnest(_gw_limited_tasks(t.ids, _gw_tasks_under_limits(t.ids), now(), due)) as w
    join _private_tasks as i on i.id = w.task_id
$$;
create function pg_temp.limited(name text) returns _gw_limited_task[] language sql as $$ select array[_gw_limits_of(pg_temp.task(name))] $$;
create function pg_temp.lanes(gate_is text) returns bigint language sql as $$
  select count(*) from _gw_lanes where case gate_is when 'open' then gate is null when 'waits' then gate > 0 else gate = 0 end
$$;

-- Which tasks have work.
select add_job('before', queue_name => 'q'), add_job('task', queue_name => 'q'), add_job('behind', queue_name => 'q');
select count(*) from get_job_batch('worker', batch_size => 9);
select complete_job('worker', id) from _private_jobs where locked_by = 'worker';
delete from _private_jobs;
select set_limit('l', '{before,task,behind}', max_running => 2);
select is(pg_temp.work('{task}', null), null, 'a task without jobs has no work');
select add_job('task', queue_name => 'q', priority => -32768);
select is(_gw_tasks_in_queues(array[pg_temp.task('task')]), array[pg_temp.task('task')],
  'a task with a job of the first priority in a queue is found');
select is(pg_temp.work(), 'task', 'a task with a job of the first priority in a queue has work');
delete from _private_jobs;
select add_job('task', queue_name => 'q', priority => 32767);
select is(_gw_tasks_in_queues(array[pg_temp.task('task')]), array[pg_temp.task('task')],
  'a task with a job of the last priority in a queue is found');
select is(pg_temp.work(), 'task', 'a task with a job of the last priority in a queue has work');
delete from _private_jobs;
select add_job(t) from unnest('{before,behind}'::text[]) as t;
select set_limit('keys', '{task,behind}', by => 'payload:k', max_running => 1);
select add_job('task', '{"k":1}') from generate_series(1, 3);
select is((select count(*) from get_job_batch('worker', array['task'], 9)), 1::bigint, 'one job of the key runs');
select is(pg_temp.lanes('waits'), 1::bigint, 'the other jobs of the key wait in their lane');
select is(pg_temp.work('{before,task,behind}', null), 'before behind task', 'all tasks with jobs have work');
select is(pg_temp.work(), null, 'a task whose lane is full has no work');
insert into _gw_gate_ends (limit_id, gate_id, at) select g.limit_id, g.id, now() from _gw_gates as g where g.key = '1';
select is(pg_temp.work(), 'task', 'a task whose lane is full has work when an end is to be counted now');
delete from _gw_gate_ends;

-- Lanes of old generations.
select _gw_empty_old_lanes(pg_temp.limited('task'));
select is((select count(*) from _private_jobs where job_queue_id = -1), 2::bigint,
  'jobs in lanes of the current generation stay there');
insert into _private_jobs (task_id, job_queue_id, payload)
select j.task_id, j.job_queue_id, '{"k":1}' from (select task_id, job_queue_id from _private_jobs where is_available and job_queue_id < -1 limit 1) as j, generate_series(1, 500);
select set_limit('keys', '{task,behind}', by => 'payload:k', max_running => 1, fair => true);
select _gw_empty_old_lanes(pg_temp.limited('task'));
select is((select count(*) from _private_jobs where is_available and job_queue_id < -1), 2::bigint,
  '500 jobs at a time come in from lanes of an old generation');
select is(pg_temp.lanes('waits'), 1::bigint, 'a lane of an old generation is in use as long as it has jobs');
select _gw_empty_old_lanes(pg_temp.limited('task'));
select is((select count(*) from _private_jobs where is_available and job_queue_id < -1), 0::bigint,
  'the last jobs come in from the lane of an old generation');
select is(pg_temp.lanes('waits'), 0::bigint, 'an empty lane of an old generation is not in use');
select drop_limit('keys'), drop_limit('l');
delete from _private_jobs;
delete from _gw_lanes;

-- What is counted, and for which gates the next claim looks.
select set_limit('keys', '{task}', by => 'payload:k', max_running => 1);
select add_job('task', json_build_object('k', k)) from generate_series(1, 3) as k, generate_series(1, 2);
select is((select count(*) from get_job_batch('worker', array['task'], 9)), 3::bigint,
  'one job of each of three keys runs');
select is(pg_temp.lanes('waits'), 3::bigint, 'the lanes of all three keys have waiting jobs');
update _gw_gates set running = 0;
delete from _gw_gate_ends;
select _gw_name_gates(array(select id from _gw_gates), now()), _gw_name_gates(array(select id from _gw_gates), now());
select is((select count(*) from _gw_gate_ends), 3::bigint, 'each gate is named once for the next claim');
delete from _gw_gate_ends;
select pause(limit_name => 'keys');
delete from _gw_gate_ends;
select _gw_name_gates(array(select id from _gw_gates), now());
select is((select count(*) from _gw_gate_ends), 0::bigint, 'a gate whose pause has no end is not named');
select resume(limit_name => 'keys');
delete from _gw_gate_ends;
update _gw_gates set max_running = 1 where key = '1';
select _gw_open_lanes(array(select id from _gw_gates), pg_temp.limited('task'), 9, now());
select is(pg_temp.lanes('open'), 3::bigint, 'lanes open where there is room');
insert into _gw_gate_ends (limit_id, gate_id, at, closed_until) select limit_id, id, now(), now() + interval '1 minute' from _gw_gates where key = '2';
insert into _gw_gate_ends (limit_id, gate_id, at, closed_until) select limit_id, id, now() + interval '1 microsecond', now() + interval '1 hour' from _gw_gates where key = '2';
select is(cardinality(_gw_count_ends(array(select id from _gw_limits), now())), 1,
  'the ends of one gate are counted if they are of now');
select is((select closed_until - now() from _gw_gates where key = '2'), interval '1 minute',
  'the end that is counted closes the gate for its time');
select is((select count(*) from _gw_gate_ends), 1::bigint, 'the end of a later time is not counted yet');
delete from _gw_gate_ends;
delete from _private_jobs;

-- Rooms.
select is(array(select r.room || coalesce(r.reason, '') from _gw_gate_rooms(array(select id from _gw_gates order by key), now()) as r), '{1,0closed,1}',
  'a closed gate has no room, the others have');
update _gw_gates set running = 1;
select is((select r.room || r.reason from _gw_gate_rooms(array(select id from _gw_gates where key = '1'), now()) as r), '0full',
  'a full gate has no room');
update _gw_gates set running = 0, max_running = 5, rate = 2, per = '1 s', burst = 2, theoretic_at = now() + interval '500 ms', closed_until = 'epoch';
select is((select r.room || coalesce(r.reason, '') from _gw_gate_rooms(array(select id from _gw_gates where key = '1'), now()) as r), '1',
  'a gate with one start of its rate left has room for one');
update _gw_gates set theoretic_at = now() + interval '500001 us';
select is((select r.room || r.reason from _gw_gate_rooms(array(select id from _gw_gates where key = '1'), now()) as r), '0rate',
  'a gate with less than one start of its rate left has no room');

-- What a claim has left, and when to search again.
create function pg_temp.noted(due timestamptz) returns interval language plpgsql as $$
declare
  claim _gw_claim := pg_temp.claim();
begin
  claim.due := due;
  perform _gw_note_left_work(claim, false);
  return _gw_locked_at(split_part(current_setting('gw.claim_left'), ' ', 1)::bigint) - now();
end;
$$;
select is(pg_temp.noted(now()), interval '0', 'a claim of now has looked at what is due now');
select is(pg_temp.noted('infinity'), interval '0', 'a claim without an end of its time has looked at what is due now');
select is(pg_temp.noted(now() - interval '1 second'), interval '-1 second',
  'a claim of an earlier time has looked at what was due then');
select is(pg_temp.noted('-infinity'), interval '-2 seconds',
  'a claim of a much earlier time has looked at what was due two seconds ago');
select set_config('gw.claim_left', '', false);
delete from _gw_lanes;

select set_limit('keys', '{task}', by => 'payload:k', max_running => 1);
select add_job('task', '{"k":9}', run_at => now() + interval '1 hour');
delete from _gw_gate_ends;
insert into _gw_gate_ends (limit_id, gate_id, at) select limit_id, id, now() from _gw_gates where key = '1';
select is(_gw_next_limited_at(null) - now(), interval '1 hour',
  'the next due time of limited jobs is not that of an end of now');
insert into _gw_gate_ends (limit_id, gate_id, at) select limit_id, id, now() + interval '1 minute' from _gw_gates where key = '1';
select is(_gw_next_limited_at(null) - now(), interval '1 minute',
  'the next due time of limited jobs is that of an earlier end');
select add_job('plain', run_at => now() + interval '1 day');
select is(next_run_at() - now(), interval '1 minute',
  'the next due time is that of an end before a job without a limit');
select is(next_run_at('{plain}') - now(), interval '1 day', 'the next due time for the other task is that of its job');
delete from _gw_gate_ends;
delete from _private_jobs;

-- Claims do no more than they need.
\ir ../calls.psql
select set_limit('one', '{single}', max_running => 3);
select add_job('single') from generate_series(1, 9);
select is((select count(*) from get_job_batch('worker', '{single}', 1)), 1::bigint,
  'a claim of one limited job takes one');
select is(pg_temp.calls('{_gw_claim_round}'), 1::bigint, 'a claim of one limited job takes one round');
select is(pg_temp.calls('{_gw_note_left_work}'), 0::bigint, 'a claim with a full batch does not store what is left');
select is(pg_temp.calls('{_gw_within_bytes}'), 0::bigint, 'a claim of one job does not count bytes');
select is(cardinality(_gw_incoming_candidates(pg_temp.claim(9), pg_temp.limited('single'), 9)), 2,
  'a claim looks at as many incoming jobs as there is room');
insert into _private_jobs (task_id) select pg_temp.task('single') from generate_series(1, 120);
select count(*) from get_job_batch('worker', '{single}', 1);
select is((select count(*) from _private_jobs where job_queue_id is null), 20::bigint,
  'a claim brings in a hundred jobs that somebody has added');
select is(pg_temp.calls('{_gw_claim_round}'), 2::bigint, 'a claim that brings in jobs takes one round');
delete from _private_jobs;

select set_limit('total', '{sum}', by => 'payload:k', max_running => 5, total_running => 1);
select add_job('sum', json_build_object('k', k)) from generate_series(1, 4) as k;
select is((select count(*) from get_job_batch('worker', '{sum}', 9)), 1::bigint, 'one job of all keys runs');
update _gw_gates set running = 0;
delete from _gw_lanes where task_id <> pg_temp.task('sum');
select _gw_open_lanes(array(select id from _gw_gates), pg_temp.limited('sum'), 9, now());
select is(pg_temp.lanes('open'), 1::bigint, 'as many lanes open as the total has room');

-- How far a claim looks.
delete from _private_jobs;
delete from _gw_lanes;
select drop_limit(name) from _gw_limits;
select set_limit('fair', '{turns}', by => 'payload:k', max_running => 1, fair => true);
select add_job('turns', '{"k":1}') from generate_series(1, 10);
select is(cardinality(_gw_incoming_candidates(pg_temp.claim(), pg_temp.limited('turns'), 1)), 10,
  'a claim looks at all jobs that take turns');
select count(*) from get_job_batch('worker', '{turns}', 1);
update _gw_gates set running = 0;
update _gw_lanes set gate = null, running = 0;
select is(cardinality(_gw_lane_candidates(pg_temp.claim(), pg_temp.limited('turns'), 5, 1)), 1,
  'a claim looks at as many jobs of a lane as there is room');
insert into _gw_lanes (id, task_id, generation, gates, gate, priority, run_at, job_id)
select -n - 1000, l.task_id, l.generation, l.gates || n, null, l.priority, l.run_at, l.job_id from _gw_lanes as l, generate_series(1001, 1003) as n;
select is(cardinality(_gw_lane_candidates(pg_temp.claim(), pg_temp.limited('turns'), 5, 1)), 4,
  'a claim looks at the first jobs of all four lanes');
delete from _gw_lanes where id < -1000;
update _private_jobs set job_queue_id = -1 where locked_at is null;
select set_limit('fair', '{turns}', by => 'payload:k', max_running => 1);
update _private_jobs set locked_at = null, locked_by = null, job_queue_id = -1;
select _gw_make_lanes(pg_temp.limited('turns'), array(select id from _private_jobs));
update _gw_lanes as l set gate = null, priority = j.priority, run_at = j.run_at, job_id = j.id from (select * from _private_jobs order by id limit 1) as j;
select is(array(select c.parks from unnest(_gw_incoming_candidates(pg_temp.claim(3), pg_temp.limited('turns'), 3)) as c order by c.job_id limit 1), '{t}',
          'the first job of a lane that has come back goes into it');

delete from _private_jobs;
delete from _gw_lanes;
update _gw_gates set running = 0;
select set_limit('fair', '{turns}', by => 'payload:k', max_running => 1, fair => true);
select count(*) from add_jobs(array(select row('turns', json_build_object('k', n % 2), null, null, null, null, null, null)::job_spec from generate_series(1, 700) as n));
select is((select count(*) from get_job_batch('worker', '{turns}', 1)), 1::bigint,
  'a claim starts a job however many come in');
delete from _private_jobs;
delete from _gw_lanes;
update _gw_gates set running = 1;
select add_job('turns', '{"k":1}', 'front', priority => -1) from generate_series(1, 20);
select add_job('plain', queue_name => 'back');
select is((select count(*) from get_job_batch('worker', null, 1)), 1::bigint,
  'a claim finds a queue behind one that a limit holds back');

select * from finish();
rollback;
