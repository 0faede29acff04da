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
  2::bigint, 'return_unknown_jobs() returns the number of returned jobs');
select is((select string_agg(j.task_identifier, ',' order by j.id) from jobs as j where j.locked_by is not null),
          'known,others', 'the known job and that of another worker stay locked');
select is((select max(j.attempts) from jobs as j where j.locked_by is null), 0::smallint,
  'the attempts of returned jobs do not count');
select is((select count(*) from _private_job_queues as q where q.locked_by is not null), 0::bigint,
  'the queue of a returned job is free');
select is(return_unknown_jobs('nobody', '{}'), 0::bigint, 'a worker that holds nothing returns no jobs');
select is(return_unknown_jobs('worker', null), 1::bigint, 'null for the known ids returns all jobs of the worker');

select * from finish();
rollback;
