-- Due jobs of a task that no registered worker has are reported, unless it is not known which tasks are served.
begin;
select plan(13);
set local search_path = graphile_worker, public;

create function pg_temp.apply_remedies(kind text)
  returns void
  language plpgsql
as $$
declare
  command text;
begin
  for command in select split_part(d.remedy, ' with: ', 2) from doctor() as d where d.finding = kind loop
    execute command;
  end loop;
end;
$$;

select add_job('known'), add_job('unknown', run_at => now() - interval '2 hours'), add_job('unknown'),
       add_job('future', run_at => now() + interval '1 hour');
select is_empty($$ select * from doctor() $$,
  'no task is reported while no worker is registered, because Node''s may have every task');

select register_worker('worker', '{known}'), register_worker('dead', '{unknown}');
update _gw_workers set last_seen_at = now() - interval '6 minutes' where id = 'dead';
select results_eq(
  $$ select severity, finding, subject from doctor() $$,
  $$ values ('warning', 'task without worker', 'task unknown') $$,
  'a task whose only worker was not seen for 6 minutes is reported');
select matches((select detail from doctor()), '^Due jobs: 2, the oldest for 02:00:00,',
  'the finding has the number of due jobs and their age');

select matches(
  (select remedy from doctor()), '^Start a worker with this task, or delete its jobs, by gw-run complete --task unknown, or with: ',
  'the remedy has a command of gw-run and a statement');

select heartbeat('dead');
select is_empty($$ select * from doctor() $$, 'a task is not reported when its worker beats again');
select deregister_worker('dead');
select isnt_empty($$ select * from doctor() $$, 'a task is reported when its worker has unregistered');

select register_worker('worker', '{}');
select is_empty($$ select * from doctor() $$, 'no task is reported if a worker is registered without a list of tasks');
select register_worker('worker', '{known}');

update _private_jobs set locked_at = now(), locked_by = 'pool' where run_at < now();
select is_empty($$ select * from doctor() $$, 'a task is not reported while a worker runs one of its jobs');
update _private_jobs set locked_at = null, locked_by = null;

select pg_temp.apply_remedies('task without worker');
select is_empty($$ select * from doctor() $$, 'the remedy gives up the due jobs of the task, which ends the finding');
select set_eq(
  $$ select task_identifier from jobs $$, array['known', 'future'], 'the remedy gives up no other jobs');

delete from _private_tasks where identifier = 'known';
select results_eq(
  $$ select finding, subject like 'task with a deleted name, id %' from doctor() $$,
  $$ values ('task without worker', true) $$,
  'a job whose task name was deleted is reported');
select unalike((select remedy from doctor()), '%gw-run%',
  'the remedy of a task whose name was deleted has no command of gw-run');

select add_job('', run_at => now() - interval '1 hour');
select unalike(
  (select remedy from doctor() where subject = 'task '), '%gw-run%',
  'the remedy of a task with an empty name has no command of gw-run');

select * from finish();
rollback;
