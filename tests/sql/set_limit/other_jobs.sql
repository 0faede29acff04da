-- While a limit is set or dropped, jobs of other tasks run at once, and so do those that the limit allows.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('a', '1'), add_job('b', '2', 'q'), add_job('b', '3', 'x'), add_job('a', '5');
select set_limit('tasks', tasks => '{a}', max_running => 1);
select is((select payload::text from get_job('worker', '{b}')), '2', 'jobs of other tasks');
select is((select payload::text from get_job('worker', '{a}')), '1', 'the first job of the task');
select is((select payload::text from get_job('worker', '{a}')), null, 'but not the second');
select drop_limit('tasks');
select add_job('a', '4', priority => -1);
select is((select payload::text from get_job('worker', '{a}')), '4', 'new jobs, if a limit is dropped');
select is((select payload::text from get_job('worker', '{a}')), '5', 'and those that had it');

select * from finish();
rollback;
