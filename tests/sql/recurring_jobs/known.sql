-- The view contains all known recurring jobs, and where they come from.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select register_worker('v'), register_worker('w');
select run_cron('[{"task": "both", "pattern": "* * * * *"}, {"task": "one", "pattern": "* * * * *"}]', now => '2026-01-01 12:00:30Z', worker_id => 'w');
select run_cron('[{"task": "both", "pattern": "* * * * *"}]', now => '2026-01-01 12:00:40Z', worker_id => 'v');
select cron_schedule('s', '* * * * *', 't');
select results_eq(
  $$ select identifier, is_schedule, workers, last_run from recurring_jobs order by identifier $$,
  $$ values ('both', false, '{v,w}'::text[], null::timestamptz), ('one', false, '{w}', null), ('s', true, '{}', null) $$,
  'items of crontabs with their workers and schedules are listed');
select run_cron('[{"task": "both", "pattern": "* * * * *"}]', '2026-01-01 12:00Z', '2026-01-01 12:02:40Z', worker_id => 'v');
select results_eq($$ select known_since, last_run from recurring_jobs where identifier = 'both' $$,
                  $$ values ('2026-01-01 12:00:30Z'::timestamptz, '2026-01-01 12:02Z'::timestamptz) $$,
                  'an item is listed with its first and last time');
select deregister_worker('w'), deregister_worker('v');
select is((select count(*)::int from recurring_jobs where identifier in ('both', 'one') and workers = '{}'), 2,
  'items of workers that have unregistered are still listed');

select * from finish();
rollback;
