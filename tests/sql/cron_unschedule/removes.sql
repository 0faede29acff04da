-- Removing a schedule keeps its jobs, and removes everything else of it.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select cron_schedule('s', '* * * * *', 't');
update _gw_schedules set active_since = '2026-01-01 12:00Z';
select run_cron('[]', '2026-01-01 12:00Z', '2026-01-01 12:01Z');
select ok(cron_unschedule('s'), 'cron_unschedule() returns true for a schedule that exists');
select ok(not cron_unschedule('s'), 'cron_unschedule() returns false for a schedule that it has removed');
select is((select count(*) from jobs), 1::bigint, 'the job of a removed schedule still waits');
select is_empty($$ select identifier from _private_known_crontabs $$,
  'the identifier of a removed schedule is no longer known');
insert into _private_known_crontabs (identifier, known_since) values ('file', now());
select ok(not cron_unschedule('file'), 'an item of a crontab is not a schedule');
select is((select json_array_length(r.scheduled) from run_cron('[]', '2026-01-01 12:01Z', '2026-01-01 12:05Z') as r), 0,
  'a removed schedule does not run');

select * from finish();
rollback;
