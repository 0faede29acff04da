-- Jobs that are locked by a worker are returned as if they had not been claimed, except those that the worker knows.
begin;
select plan(6);
set local search_path = graphile_worker, public;

select add_job('known'), add_job('unknown'), add_job('unknown', queue_name => 'queue');
select add_job('others');
select get_job('worker', array['known', 'unknown']) from generate_series(1, 3);
select get_job('other');

select is(
  (select return_unknown_jobs('worker', array_agg(j.id)) from jobs as j where j.task_identifier = 'known'),
  2::bigint, 'it returns their number');
select is((select string_agg(j.task_identifier, ',' order by j.id) from jobs as j where j.locked_by is not null),
          'known,others', 'the others stay locked');
select is((select max(j.attempts) from jobs as j where j.locked_by is null), 0::smallint, 'the attempt does not count');
select is((select count(*) from _private_job_queues as q where q.locked_by is not null), 0::bigint, 'the queue is free');
select is(return_unknown_jobs('nobody', '{}'), 0::bigint, '0 for a worker that holds nothing');
select is(return_unknown_jobs('worker', null), 1::bigint, 'null knows of none');

select * from finish();
rollback;
