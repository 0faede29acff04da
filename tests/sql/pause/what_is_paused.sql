-- What is paused does not start until it is resumed or the pause has ended; everything else does.
begin;
select plan(17);
set local search_path = graphile_worker, public;

create function pg_temp.next()
  returns text
  language sql
as $$
  with claimed as materialized (select b.id, b.payload::text as payload from get_job_batch('worker', batch_size => 100, now => clock_timestamp()) as b)
  select coalesce(string_agg(c.payload, ' ' order by c.payload), '') from claimed as c;
$$;

select add_job('a', '1'), add_job('b', '2'), add_job('b', '3', 'queue');
select pause(task => 'a', reason => 'a migration');
select is(pg_temp.next(), '2 3', 'jobs of other tasks start while a task is paused');
select results_eq($$ select task, queue, limit_name, lane, reason, author = session_user from list_pauses() $$,
                  $$ values ('a', null::text, null::text, null::text, 'a migration', true) $$,
                  'the pause of the task is listed with its reason and author');
select add_job('a', '4');
select set_config('gw.actor', 'ada', true), pause(task => 'a', reason => 'a migration'), set_config('gw.actor', '', true);
select is((select author from list_pauses()), 'ada (role ' || session_user || ')',
  'the pause has the user of the program as its author');
select is(pg_temp.next(), '', 'new jobs of a paused task do not start');
select is(next_run_at(), null, 'an endless pause has no next due time');
select ok(resume(task => 'a'), 'resume() returns true for a task that is paused');
select is(pg_temp.next(), '1 4', 'the jobs of the resumed task start');
select ok(not resume(task => 'a'), 'resume() returns false for a task that has been resumed');
select force_unlock_workers('{worker}');

select pause(task => 'a', until => clock_timestamp() + interval '1 hour');
select is(pg_temp.next(), '2 3', 'jobs of other tasks start while a task is paused for an hour');
select is(next_run_at(), (select until from list_pauses()), 'the next due time is the end of the pause');
update _gw_pauses set until = clock_timestamp();
select is(pg_temp.next(), '1 4', 'the jobs of the task start after the end of the pause');
select _gw_sweep_pauses();
select is((select count(*) from _gw_pauses), 0::bigint, 'a heartbeat deletes a pause that has ended');
select force_unlock_workers('{worker}');

select pause(queue => 'queue', until => clock_timestamp() + interval '1 hour');
select is(pg_temp.next(), '1 2 4', 'jobs of other queues start while a queue is paused');
select resume(queue => 'queue');
select force_unlock_workers('{worker}');

select pause(reason => 'all of it');
select is(pg_temp.next(), '', 'no job starts while everything is paused');
select ok(next_run_at() is null, 'a pause of everything has no next due time');
select resume();
select is(pg_temp.next(), '1 2 3 4', 'all jobs start when everything is resumed');
select is_empty($$ select 1 from _gw_lanes union all select 1 from _gw_limits union all select 1 from _gw_gates union all select 1 from _gw_pauses $$,
                'the pauses leave no rows of lanes, limits, gates and pauses');

select * from finish();
rollback;
