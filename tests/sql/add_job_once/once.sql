-- Only the first call under a key within the interval adds a job; the others return that job.
begin;
select plan(15);
set local search_path = graphile_worker, public;
-- The job with this row of the answer.
create function pg_temp.once(payload json, key text default 'k', within interval default '1 day')
  returns text language sql as $$ select format('%s %s %s', id = (select max(j.id) from _private_jobs as j where j.key = once.key), state, is_new) from add_job_once('task', payload, once.key, within) $$;

create temporary table first on commit drop as select * from add_job_once('task', '{"n": 1}', 'k', run_at => '2020-01-01', max_attempts => 3, priority => 7, flags => '{f}', queue_name => 'q');
select results_eq('select state, due_at, revision, is_new from first', $$ values ('ready', timestamptz '2020-01-01', 0, true) $$, 'the first call adds a job');
select results_eq(
  $$ select j.payload::text, t.identifier, q.queue_name, j.key, j.run_at, j.max_attempts::int, j.priority::int, j.flags
       from _private_jobs as j join _private_tasks as t on t.id = j.task_id join _private_job_queues as q on q.id = j.job_queue_id
      where j.id = (select id from first) $$,
  $$ values ('{"n": 1}', 'task', 'q', 'k', timestamptz '2020-01-01', 3, 7, '{"f": true}'::jsonb) $$,
  'the job has the options of the first call');
select results_eq($$ select * from add_job_once('other', '{"n": 2}', 'k') $$, $$ select id, state, due_at, revision, false from first $$,
  'the second call returns the job of the first, whatever it asks for');
select is((select count(*) from _private_jobs), 1::bigint, 'the second call adds no job');
select is(payload::text, '{"n": 1}', 'the second call does not change the job') from _private_jobs;

select get_job_batch('worker');
select is(pg_temp.once('{}'), 't running f', 'a later call returns the current state of the job');
select complete_job('worker', id) from first;
select results_eq($$ select * from add_job_once('task', key => 'k') $$, $$ select id, 'gone', null::timestamptz, null::int, false from first $$,
  'a job that is done counts as the job of the key');

-- A job that was replaced, or has lost its key, counts too.
create temporary table second on commit drop as select * from add_job_once('task', '{"n": 1}', 'k2');
select get_job_batch('worker');
select add_job('task', '{"n": 2}', job_key => 'k2');
select results_eq($$ select id, state, is_new from add_job_once('task', key => 'k2') $$, $$ select id, 'running', false from second $$,
  'a job that was replaced while it ran counts as the job of the key');
select remove_job('k2');
select is((select is_new from add_job_once('task', key => 'k2')), false,
  'a job whose key was removed counts as the job of the key');

-- When the interval is over.
update _gw_keyed_calls set kept_until = clock_timestamp() where key = 'k2';
create temporary table third on commit drop as select * from add_job_once('task', '{"n": 3}', 'k2', '1 hour');
select is((select is_new from third), true, 'after the interval a call adds a job');
select is((select count(*) from add_job_once('task', key => 'k2') as o join third as t on t.id = o.id and not o.is_new), 1::bigint,
  'a later call returns the job of the call after the interval');
select ok((select kept_until between clock_timestamp() + interval '59 minutes' and clock_timestamp() + interval '1 hour' from _gw_keyed_calls where key = 'k2'),
  'the record is kept for the interval of its own call');

-- A call that is undone does not count.
savepoint before;
select add_job_once('task', key => 'k3');
rollback to before;
select is((select is_new from add_job_once('task', key => 'k3')), true, 'a call that was rolled back does not count');

-- Records are deleted after their interval.
update _gw_keyed_calls set kept_until = clock_timestamp() - interval '1 hour' where key <> 'k3';
select _gw_drop_spent();
select is((select array_agg(key) from _gw_keyed_calls), '{k3}'::text[], 'records are deleted after their interval');
select is((select array_agg(kind) from _gw_keyed_calls), '{once}'::text[], 'records within their interval stay');

select * from finish();
rollback;
