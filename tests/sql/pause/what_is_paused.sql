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
select is(pg_temp.next(), '2 3', 'a task');
select results_eq($$ select task, queue, limit_name, lane, reason, author = session_user from list_pauses() $$,
                  $$ values ('a', null::text, null::text, null::text, 'a migration', true) $$, 'is in the list');
select add_job('a', '4');
select set_config('gw.actor', 'ada', true), pause(task => 'a', reason => 'a migration'), set_config('gw.actor', '', true);
select is((select author from list_pauses()), 'ada (role ' || session_user || ')', 'with the user of the program');
select is(pg_temp.next(), '', 'new jobs, too');
select is(next_run_at(), null, 'nobody has to look');
select ok(resume(task => 'a'), 'it is resumed');
select is(pg_temp.next(), '1 4', 'and its jobs start');
select ok(not resume(task => 'a'), 'nothing is left to resume');
select force_unlock_workers('{worker}');

select pause(task => 'a', until => clock_timestamp() + interval '1 hour');
select is(pg_temp.next(), '2 3', 'a task for an hour');
select is(next_run_at(), (select until from list_pauses()), 'after which workers look again');
update _gw_pauses set until = clock_timestamp();
select is(pg_temp.next(), '1 4', 'and need nobody to end it');
select _gw_sweep_pauses();
select is((select count(*) from _gw_pauses), 0::bigint, 'a heartbeat deletes the pause');
select force_unlock_workers('{worker}');

select pause(queue => 'queue', until => clock_timestamp() + interval '1 hour');
select is(pg_temp.next(), '1 2 4', 'a queue');
select resume(queue => 'queue');
select force_unlock_workers('{worker}');

select pause(reason => 'all of it');
select is(pg_temp.next(), '', 'everything');
select ok(next_run_at() is null, 'nobody has to look');
select resume();
select is(pg_temp.next(), '1 2 3 4', 'and all of it again');
select is_empty($$ select 1 from _gw_lanes union all select 1 from _gw_limits union all select 1 from _gw_gates union all select 1 from _gw_pauses $$,
                'nothing is left');

select * from finish();
rollback;
