-- A Node worker that runs a task to which a limit applies is reported if the jobs of the task have queue names: it sees them.
begin;
select plan(5);
set local search_path = graphile_worker, public;

create function pg_temp.found() returns text as $body$
  select coalesce(string_agg(d.severity || ', ' || d.finding || ': ' || d.subject, '; ' order by d.subject), '')
    from _gw_find_node_limits() as d;
$body$ language sql;

select add_job('call', queue_name => 'q') from generate_series(1, 2);
select add_job('call'), add_job('other', queue_name => 'o');
update _private_jobs set locked_by = 'pool-0123456789abcdef01', locked_at = now(), attempts = 1
 where id in (select min(id) from jobs group by task_identifier, queue_name);
select is(pg_temp.found(), '', 'nothing is reported without limits');
select set_limit('api', '{call}', rate => 10, per => '1 minute');
select is(pg_temp.found(), 'warning, limit beside Node: limit api',
  'a limit of a task that a Node worker runs is reported');
select matches((select detail from _gw_find_node_limits()), '^The Node worker pool-0123456789abcdef01 runs the task call, whose jobs have queue names\.',
  'the finding names the Node worker and the task');
delete from _private_jobs where locked_at is not null and job_queue_id is not null;
select is(pg_temp.found(), 'warning, limit beside Node: limit api',
  'the limit is reported as long as jobs of the task wait in queues');
delete from _private_jobs where job_queue_id is not null;
select is(pg_temp.found(), '', 'the limit is not reported if only jobs without a queue wait');

select * from finish();
rollback;
