-- While a limit is set or dropped, jobs of other tasks run at once, and so do those that the limit allows.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('a', '1'), add_job('b', '2', 'q'), add_job('b', '3', 'x'), add_job('a', '5');
select set_limit('tasks', tasks => '{a}', max_running => 1);
select is((select payload::text from get_job('worker', '{b}')), '2',
  'a job of another task is claimed while a limit is set');
select is((select payload::text from get_job('worker', '{a}')), '1', 'the first job of the limited task is claimed');
select is((select payload::text from get_job('worker', '{a}')), null,
  'the second job of the limited task is not claimed');
select drop_limit('tasks');
select add_job('a', '4', priority => -1);
select is((select payload::text from get_job('worker', '{a}')), '4',
  'a new job of the task is claimed after the limit is dropped');
select is((select payload::text from get_job('worker', '{a}')), '5',
  'a job that had the limit is claimed after it is dropped');

select * from finish();
rollback;
