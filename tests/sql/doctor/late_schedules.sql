-- A schedule with runs that were due minutes ago and that a worker should have added is reported. The remedy skips them.
begin;
select plan(10);
set local search_path = graphile_worker, public;

select cron_schedule('often', '* * * * *', 'task', fill => '30 days'), cron_schedule('never filled', '* * * * *', 'task');
create function pg_temp.set_back(by interval)
  returns void
  language sql
as $$
  update _gw_schedules set active_since = now() - by, last_run = null;
  update _private_known_crontabs set known_since = now() - by, last_execution = null;
$$;

select is_empty($$ select * from doctor() $$, 'schedules that have just been created are not late');
select pg_temp.set_back('4 minutes');
select is_empty($$ select * from doctor() $$, 'a schedule whose run was due four minutes ago is not late');

select pg_temp.set_back('30 days');
select results_eq(
  $$ select severity, finding, subject, detail ~ 'has not been added for 29 days 23:59.*Node''s workers run no schedules', remedy ~ '^Start a worker'
       from doctor() order by subject $$,
  $$ values ('warning', 'late schedule', 'schedule never filled', true, true), ('warning', 'late schedule', 'schedule often', true, true) $$,
  'every missed run counts as late while no worker is registered');

select register_worker('worker', '{task}');
select results_eq(
  $$ select subject, detail ~ 'oldest first', remedy ~ '^Read in the log' from doctor() $$,
  $$ values ('schedule often', true, true) $$,
  'runs that a worker does not fill because it has just started are not late');
update _gw_workers set beating_since = now() - interval '6 minutes';
select results_eq(
  $$ select subject, detail ~ 'for 00:05:' from doctor() where subject ~ 'never' $$, $$ values ('schedule never filled', true) $$,
  'a run that was due while a worker lived is late');

select is(json_array_length(c.scheduled), 1000,
  'one call of run_cron() adds a thousand runs') from run_cron('[]', now() - interval '1 minute') as c;
select is((select count(*) from doctor() where subject = 'schedule often'), 1::bigint,
  'a schedule with runs that are left is still late');

do $$
declare
  command text;
begin
  for command in select d.command from graphile_worker.doctor() as d where d.finding = 'late schedule' loop
    execute command;
  end loop;
end;
$$;
select is_empty($$ select * from doctor() where finding = 'late schedule' $$,
  'the remedy skips the missed runs, which ends the findings');
select is((select json_array_length(c.scheduled) from run_cron('[]', now() - interval '1 minute', now() + interval '1 minute') as c), 2,
          'the schedules run from now on after the remedy');

select pg_temp.set_back('30 days');
update _gw_schedules set paused = true;
select is_empty($$ select * from doctor() where finding = 'late schedule' $$, 'a paused schedule is not late');

select * from finish();
rollback;
