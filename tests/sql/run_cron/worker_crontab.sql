-- The crontab of a registered worker is known, and an item with the identifier of a schedule in the database does not run.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select register_worker('w');
select run_cron('[{"task": "a", "pattern": "* * * * *"}, {"task": "b", "pattern": "* * * * *"}]', now => '2026-01-01 12:00:30Z', worker_id => 'w');
select results_eq($$ select crontab from _gw_workers $$, $$ values ('{a,b}'::text[]) $$,
  'the crontab of a worker has the identifiers of its items');
select run_cron('[{"task": "a", "pattern": "* * * * *"}]', '2026-01-01 12:00Z', '2026-01-01 12:00:40Z', 'w');
select results_eq($$ select crontab from _gw_workers $$, $$ values ('{a}'::text[]) $$,
  'an item that the worker has no longer is not in its crontab');
select lives_ok($$ select run_cron('[]', '2026-01-01 12:00Z', '2026-01-01 12:00:40Z', 'nobody') $$,
  'a worker that is not registered has no crontab');

select cron_schedule('b', '*/2 * * * *', 'scheduled');
update _gw_schedules set active_since = '2026-01-01 12:00Z';
select results_eq(
  $$ select r.problems::text,
            (select string_agg(t.identifier, ' ' order by j.id) from jobs as j join _private_tasks as t on t.identifier = j.task_identifier)
       from run_cron('[{"task": "a", "pattern": "* * * * *"}, {"task": "b", "pattern": "* * * * *"}]',
                     '2026-01-01 12:00Z', '2026-01-01 12:02:00Z', 'w') as r $$,
  $$ values ('[{"identifier":"b","problem":"A schedule in the database has this identifier; it runs instead."}]', null::text) $$,
  'the worker is told that a schedule in the database has the identifier');
select results_eq(
  $$ select task_identifier, run_at from jobs order by id $$,
  $$ values ('a', '2026-01-01 12:01Z'::timestamptz), ('a', '2026-01-01 12:02Z'), ('scheduled', '2026-01-01 12:02Z') $$,
  'the schedule in the database runs instead of the item');
update _gw_schedules set time_zone = 'Gone/Gone';
select results_eq(
  $$ select r.problems::text, json_array_length(r.scheduled) from run_cron('[{"task": "a", "pattern": "* * * * *"}]', '2026-01-01 12:02Z', '2026-01-01 12:04Z') as r $$,
  $$ values ('[{"identifier":"b","problem":"Time zone ''Gone/Gone'' is not known to the server."}]', 2) $$,
  'a schedule whose time zone is unknown does not keep the others from running');

select * from finish();
rollback;
