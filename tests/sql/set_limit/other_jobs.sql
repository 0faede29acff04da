-- While the jobs of a changed limit are moved, other jobs run.
begin;
select plan(5);
set local search_path = graphile_worker, public;

select add_job('a', '1'), add_job('b', '2', 'q'), add_job('b', '3', 'x');
select set_limit('queues', queues => 'x*', max_running => 2);
select is((select payload::text from get_job('worker')), '1', 'jobs without a queue, if a limit of queues is new');
select get_job('worker', '{none}') from generate_series(1, 6);

select set_limit('tasks', tasks => '{a}', max_running => 1);
select is((select payload::text from get_job('worker', '{b}')), '2', 'jobs of other tasks, if a limit of tasks is new');
select get_job('worker', '{none}') from generate_series(1, 6);
select force_unlock_workers('{worker}');

select drop_limit('tasks');
select add_job('a', '4', priority => -1);
select is((select payload::text from get_job('worker', '{a}')), '4', 'new jobs, if a limit is dropped');

select get_job('worker', '{none}') from generate_series(1, 6);
select is((select payload::text from get_job('worker', '{a}')), '1', 'and those that had it');
select drop_limit('queues');
select get_job('worker', '{none}') from generate_series(1, 6);
select is_empty($$ select 1 from _gw_lanes union all select 1 from _gw_groups union all select 1 from _gw_moves $$, 'nothing is left');

select * from finish();
rollback;
