-- A schedule replaces a waiting job of its own task by its key, but never one of another task.
begin;
select plan(9);
set local search_path = graphile_worker, public;

create function pg_temp.tick(minute integer, out added text, out told text)
  language sql
as $$
  select (select string_agg(s ->> 'identifier', ', ' order by n) from json_array_elements(r.scheduled) with ordinality as s (s, n)),
         (select string_agg((p ->> 'identifier') || ': ' || (p ->> 'problem'), ', ') from json_array_elements(r.problems) as p)
    from run_cron('[{"identifier": "item", "task": "item", "pattern": "* * * * *", "job_key": "of an item"}]',
                  date_trunc('hour', now()) + interval '1 day' + (minute - 1) * interval '1 minute',
                  date_trunc('hour', now()) + interval '1 day' + minute * interval '1 minute') as r
$$;

select add_job('other', '{"n": 1}', job_key => 'vip');
select add_job('other', job_key => 'of an item');
select cron_schedule('keyed', '* * * * *', 'scheduled', job_key => 'vip');
select cron_schedule('plain', '* * * * *', 'scheduled');

select results_eq($$ select * from pg_temp.tick(1) $$,
                  $$ values ('item, plain', 'keyed: A job of another task has the job key, so no job was added.') $$,
                  'the schedule adds no job and is reported; the other items and schedules run');
select results_eq($$ select t.identifier, j.payload::text, j.revision from _private_jobs as j join _private_tasks as t on t.id = j.task_id
                      where j.key = 'vip' $$,
                  $$ values ('other', '{"n": 1}', 0) $$, 'the job of the other task is unchanged');
select results_eq($$ select last_run, last_job_id from cron_schedules where identifier = 'keyed' $$,
                  $$ values (null::timestamptz, null::bigint) $$,
                  'a schedule whose key has another task has no last run');
select cron_schedule('keyed', '* * * * *', 'scheduled', job_key => 'vip', job_key_mode => 'unsafe_dedupe');
select is((select told from pg_temp.tick(2)), 'keyed: A job of another task has the job key, so no job was added.',
  'unsafe_dedupe does not replace a job of another task, either');

select get_job('worker', '{other}');
select is((select told from pg_temp.tick(3)), 'keyed: A job of another task has the job key, so no job was added.',
  'a running job of another task is not replaced, either');
select is((select key from _private_jobs where locked_at is not null), 'vip',
  'the running job of another task keeps its key');

select remove_job('vip');
select complete_jobs(array_agg(id)) from _private_jobs where locked_at is null;
delete from _private_jobs;
select results_eq($$ select * from pg_temp.tick(4) $$, $$ values ('item, keyed, plain', null::text) $$,
  'the schedule runs when the key is free');
select cron_schedule('keyed', '* * * * *', 'scheduled', job_key => 'vip');
select results_eq($$ select * from pg_temp.tick(5) $$, $$ values ('item, keyed, plain', null::text) $$,
  'the schedule replaces the waiting job of its own task');
select is((select revision from _private_jobs where key = 'vip'), 1,
  'the replaced job of the schedule has the same row');

select * from finish();
rollback;
