-- Critical findings come first, then warnings, then information, in whatever order they were found.
begin;
select plan(1);
set local search_path = graphile_worker, public;

select count(*) from add_jobs(array(select json_populate_record(null::job_spec, '{"identifier": "task"}') from generate_series(1, 1000)));
update _private_jobs set attempts = max_attempts;
insert into _private_job_queues (queue_name, locked_at, locked_by) values ('queue', now(), 'worker');
alter sequence tasks_id_seq restart with 2147483640;
select add_job('another');
create or replace function graphile_worker.backoff(attempts integer) returns interval language sql as 'select null::interval';

select results_eq(
  $$ select severity, finding, subject from doctor() $$,
  $$ values ('critical', 'ending identity',   'sequence tasks_id_seq'),
            ('warning',  'replaced function', 'function graphile_worker.backoff(integer)'),
            ('warning',  'orphaned queue',    'queue queue'),
            ('warning',  'failing task',      'task task'),
            ('info',     'failed jobs',       'table _private_jobs') $$,
  'findings come in the order of their severity');

select * from finish();
rollback;
