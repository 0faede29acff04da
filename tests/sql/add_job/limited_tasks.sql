-- A job of a task with a limit, or of a paused one, has -1 in job_queue_id until a claim looks at it; in a named queue it has the id of
-- that. Every way to add jobs does the same.
begin;
select plan(10);
set local search_path = graphile_worker, public;

create function pg_temp.places()
  returns table (task text, place text)
  language sql
as $$
  select t.identifier, coalesce(q.queue_name, j.job_queue_id::text, 'none')
    from _private_jobs as j
    join _private_tasks as t on t.id = j.task_id
    left join _private_job_queues as q on q.id = j.job_queue_id
   order by j.id
$$;
create function pg_temp.spec(task text, queue text default null, key text default null)
  returns job_spec
  language sql
as $$
  select row(task, null, queue, null, null, key, null, null)::job_spec
$$;

select add_job('limited', job_key => 'early');
select set_limit('limit', '{limited}', max_running => 1);
select pause(task => 'paused');
select pause(task => 'past', until => clock_timestamp() + interval '1 hour');
update _gw_pauses set until = now() - interval '1 second' where task = 'past';
select results_eq('select * from pg_temp.places()', $$ values ('limited', 'none') $$,
  'a job that waits when its task gets a limit stays where it is');

select add_job('limited');
select add_job('limited', queue_name => 'q');
select add_job('paused', flags => '{a}');
select add_job('past');
select add_job('free');
select results_eq(
  'select * from pg_temp.places() offset 1',
  $$ values ('limited', '-1'), ('limited', 'q'), ('paused', '-1'), ('past', 'none'), ('free', 'none') $$,
  'limited and paused jobs wait for a claim that looks at them');

select add_job('limited', job_key => 'early');
select results_eq('select * from pg_temp.places() limit 1', $$ values ('limited', '-1') $$,
  'a job that is replaced by a limited one waits for a claim that looks at it');
select add_job('free', job_key => 'early');
select results_eq('select * from pg_temp.places() limit 1', $$ values ('free', 'none') $$,
  'a job that is replaced by one of a free task waits in no lane');
select add_job('limited', queue_name => 'q', job_key => 'early');
select results_eq('select * from pg_temp.places() limit 1', $$ values ('limited', 'q') $$,
  'a job that is replaced by one in a queue waits in this queue');
select add_job('free', job_key => 'early', job_key_mode => 'unsafe_dedupe');
select results_eq('select * from pg_temp.places() limit 1', $$ values ('limited', 'q') $$,
  'a duplicate in mode unsafe_dedupe leaves the job where it is');

delete from _private_jobs;
select add_jobs(array[pg_temp.spec('limited'), pg_temp.spec('free'), pg_temp.spec('limited', 'q'), pg_temp.spec('paused')]);
select results_eq(
  'select * from pg_temp.places()',
  $$ values ('limited', '-1'), ('free', 'none'), ('limited', 'q'), ('paused', '-1') $$,
  'add_jobs() puts limited and paused jobs into the same places');
delete from _private_jobs;
select add_jobs(array[pg_temp.spec('free', null, 'a'), pg_temp.spec('limited', null, 'b'), pg_temp.spec('limited', 'q', 'c'), pg_temp.spec('limited')]);
select results_eq(
  'select * from pg_temp.places()',
  $$ values ('free', 'none'), ('limited', '-1'), ('limited', 'q'), ('limited', '-1') $$,
  'add_jobs() with keys puts limited jobs into the same places');
select add_jobs(array[pg_temp.spec('limited', null, 'a'), pg_temp.spec('paused', 'q', 'b'), pg_temp.spec('free', null, 'c')]);
select results_eq(
  'select * from pg_temp.places() limit 3',
  $$ values ('limited', '-1'), ('paused', 'q'), ('free', 'none') $$,
  'add_jobs() puts replaced jobs into the same places');

select set_limit('all', total_running => 100);
select add_job('free', job_key => 'c');
select results_eq('select * from pg_temp.places() offset 2 limit 1', $$ values ('free', '-1') $$, 'a limit of all tasks applies to each');

select * from finish();
rollback;
