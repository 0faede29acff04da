-- A limit without queues does not apply to jobs in named queues; doctor() names the limits whose tasks have such jobs.
begin;
select plan(7);
set local search_path = graphile_worker, public;

create function pg_temp.found() returns text as $body$
  select coalesce(string_agg(d.finding || ': ' || d.subject || ', ' || d.severity, '; ' order by d.subject), '')
    from doctor() as d where d.finding = 'jobs without limit';
$body$ language sql;

select set_limit('api', '{call}', rate => 10, per => '1 minute');
select get_job('w', '{none}') from generate_series(1, 10);
select add_job('call');
select add_job('other', queue_name => 'q');
select is(pg_temp.found(), '', 'jobs outside of queues, and of other tasks, are no problem');
select add_job('call', queue_name => 'q');
select is(pg_temp.found(), 'jobs without limit: limit api, info', 'a job of its task in a queue is told');
select matches((select detail from _gw_find_unlimited_jobs()), '^Jobs of the task call wait in named queues\.', 'with the task');
select set_limit('all', max_running => 5);
select is(pg_temp.found(), 'jobs without limit: limit all, info; jobs without limit: limit api, info', 'a limit of all tasks lacks them, too');
select drop_limit('all');
select pause(task => 'other');
select is(pg_temp.found(), 'jobs without limit: limit api, info', 'a pause is no limit');
select resume(task => 'other');

select set_limit('api in queues', '{call}', queues => '*', rate => 10, per => '1 minute');
select is(pg_temp.found(), '', 'it is not told if another limit applies to them');
select drop_limit('api in queues');
select get_job('w', '{none}') from generate_series(1, 10);
select complete_jobs(array(select id from jobs where queue_name = 'q'));
select is(pg_temp.found(), '', 'nor when they are gone');

select * from finish();
rollback;
