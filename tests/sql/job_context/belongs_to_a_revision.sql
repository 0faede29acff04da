-- A context belongs to one revision of a job: a replaced job has another context, or none.
begin;
select plan(7);
set local search_path = graphile_worker, public;

create function pg_temp.context_of(job _private_jobs)
  returns jsonb
  language sql
as $$
  select c.context from _gw_job_contexts(array[job.id], array[job.revision]) as c where c.job_id = job.id
$$;

create temporary table added as select j.* from add_job('task', job_key => 'key') as j;
select is_empty(
  $$ select * from _gw_job_contexts((select array_agg(id) from added), (select array_agg(revision) from added)) $$,
  'a job without a context has none');
select _gw_put_job_contexts(array[id], array[revision], '{"trace": "one"}') from added;
select is((select pg_temp.context_of(j) from _private_jobs as j), '{"trace": "one"}',
  'the stored context of a job is found');
select is((select payload::text from _private_jobs), '{}', 'the context does not change the payload');

select add_job('task', job_key => 'key');
select is((select pg_temp.context_of(j) from _private_jobs as j), null,
  'a replaced job without a context does not have the earlier one');
select _gw_put_job_contexts(array[id], array[revision], '{"trace": "two"}') from _private_jobs;
select is((select pg_temp.context_of(j) from _private_jobs as j), '{"trace": "two"}',
  'a replaced job can have its own context');
select _gw_put_job_contexts(array[id], array[revision], '{"trace": "late"}') from added;
select is((select pg_temp.context_of(j) from _private_jobs as j), '{"trace": "two"}',
  'the context of an earlier revision is not stored');

select add_job('task', job_key => 'key');
select add_job('task', job_key => 'other');
select _gw_put_job_contexts(array[j.id, o.id, j.id], array[1, 0, 2], '{"trace": "many"}')
  from _private_jobs as j, _private_jobs as o
 where j.key = 'key' and o.key = 'other';
select is(
  (select count(*) from _private_jobs as j where pg_temp.context_of(j) = '{"trace": "many"}'),
  2::bigint,
  'a job of several specs has the context of its last revision');

select * from finish();
rollback;
