-- A schedule in the database runs with any ticking worker, from its creation on.
begin;
select plan(7);
set local search_path = graphile_worker, public;

create function pg_temp.tick(since text, now text)
  returns text
  language sql
as $$
  select string_agg(s ->> 'identifier' || substr(s ->> 'ts', 11, 6), ', ')
    from run_cron('[]', ('2026-01-01 ' || since || 'Z')::timestamptz, ('2026-01-01 ' || now || 'Z')::timestamptz) as r
   cross join lateral json_array_elements(r.scheduled) as s
$$;

select is(cron_schedule('often', '*/5 * * * *', 'task', '{"a": 1}', max_attempts => 2, queue_name => 'q', priority => 3,
                        job_key => 'k', job_key_mode => 'preserve_run_at', flags => '{f}'),
          cron_next('*/5 * * * *', now()), 'cron_schedule() returns the next run');
select is(cron_schedule('never', '0 0 30 2 *', 'task'), null,
  'cron_schedule() returns null for a pattern that never runs');
select is((select known_since from _private_known_crontabs where identifier = 'often'), now(),
  'a new schedule is in the known crontabs at once');
update _gw_schedules set active_since = '2026-01-01 12:05Z';
update _private_known_crontabs set known_since = '2026-01-01 12:05Z';
select is(pg_temp.tick('12:00', '12:11:00'), 'oftenT12:05, oftenT12:10',
  'a schedule runs since its creation, not before');
select is(pg_temp.tick('12:00', '12:11:00'), null, 'a schedule runs once for each time');
select results_eq(
  $$ select j.task_identifier, j.queue_name, j.max_attempts::integer, j.priority::integer, j.key, j.flags, j.run_at, p.payload::text
       from jobs as j join _private_jobs as p using (id) $$,
  $$ values ('task', 'q', 2, 3, 'k', '{"f": true}'::jsonb, '2026-01-01 12:05Z'::timestamptz,
             '{"a":1,"_cron":{"ts":"2026-01-01T12:10:00.000Z","backfilled":false}}') $$,
  'jobs of a schedule have its values; the first one waits with the key');
select cron_schedule('often', '*/5 * * * *', 'task', fill => '1 hour');
select is((select string_agg(s ->> 'identifier' || substr(s ->> 'ts', 11, 6), ', ')
             from run_cron('[]', null, '2026-01-01 12:21Z') as r, json_array_elements(r.scheduled) as s),
          'oftenT12:15, oftenT12:20', 'a worker that starts backfills the schedule');

select * from finish();
rollback;
