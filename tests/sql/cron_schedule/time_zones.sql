-- A time zone is a name of pg_timezone_names, in upper or lower case. Abbreviations and zones by POSIX, which PostgreSQL accepts too, are
-- refused; schedules that have one continue to run, with a finding.
begin;
select plan(28);
set local search_path = graphile_worker, public;

select throws_like(format('select cron_schedule(%L, %L, %L, time_zone => %L)', 's', '0 3 * * *', 't', z.zone),
                   'Time zone ''' || z.zone || ''' is not known to the server.', z.zone)
  from unnest('{UTC+2,UTC-2,+02,-3,GMT+5,PST,PDT,BST,IST,CEST,Paris2,Europe/Paris2,<+05>-5,x1,CET-1CEST,EST5EDT4,Nowhere}'::text[]) as z (zone);
select throws_ok(format('select cron_schedule(%L, %L, %L, time_zone => %L)', 's', '0 3 * * *', 't', ''), 'GWRTZ', null,
  'a time zone with an empty name is refused');
select throws_ok($$ select cron_next('0 3 * * *', now(), 'UTC+2') $$, 'GWRTZ', null,
  'cron_next() refuses a zone by POSIX');
select throws_ok($$ select cron_between('0 3 * * *', now(), now() + '1 day', 'PST') $$, 'GWRTZ', null,
  'cron_between() refuses an abbreviation as a time zone');
select throws_ok($$ select cron_matches('0 3 * * *', now(), 'PST') $$, 'GWRTZ', null,
  'cron_matches() refuses an abbreviation as a time zone');
select throws_ok(
  $$ select * from run_cron('[{"task": "a", "pattern": "* * * * *", "time_zone": "PST"}]') $$, 'GWRTZ', null,
  'run_cron() refuses an abbreviation as a time zone');

select is_empty(
  $$ select n.name
       from ((select o.name from pg_timezone_names as o order by random() limit 50)
             union all values ('Etc/GMT+5'), ('EST5EDT'), ('america/PORT-AU-PRINCE'), ('utc'), ('GMT'), ('GMT0')) as n
      where not _gw_is_zone_name(n.name) or not _gw_is_zone_name(lower(n.name)) $$,
  'names of pg_timezone_names are accepted, in lower case, too');
select results_eq(
  $$ select z.zone, _gw_zone_hint(z.zone) ~ z.hint from (values ('UTC+2', 'Etc/GMT-2'), ('GMT-05', 'Etc/GMT\+5'), ('+02', 'Etc/GMT-2'), ('PST', 'Abbreviations'),
      ('Paris2', '^the view pg_timezone_names')) as z (zone, hint) $$,
  $$ values ('UTC+2', true), ('GMT-05', true), ('+02', true), ('PST', true), ('Paris2', true) $$,
  'the hint of a refused zone says what to write instead');

-- As an earlier release has stored them.
select cron_schedule('old', '0 3 * * *', 'task');
update _gw_schedules set time_zone = 'UTC+2', active_since = now() - interval '2 days' where identifier = 'old';
select isnt(next_run, null,
  'the next run of a stored schedule with a refused zone is shown') from cron_schedules where identifier = 'old';
select is((select json_array_length(r.scheduled) from run_cron('[]', now() - interval '1 day') as r), 1,
  'a stored schedule with a refused zone runs');
select results_eq(
  $$ select severity, subject, detail ~ 'It runs' from doctor() as d where d.finding = 'refused time zone' $$,
  $$ values ('warning', 'schedule old', true) $$,
  'doctor() reports a stored schedule with a refused zone');
select lives_ok($$ select cron_schedule('old', '0 3 * * *', 'task', time_zone => 'Etc/GMT-2') $$,
  'a schedule with a refused zone can be changed to a zone that is a name');

select * from finish();
rollback;
