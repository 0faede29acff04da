-- A job added with nothing but its task gets the documented defaults, and add_job returns its row.
begin;
select plan(3);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select j.job_queue_id, j.payload::text, j.priority, j.run_at, j.attempts, j.max_attempts, j.last_error, j.created_at,
            j.updated_at, j.key, j.locked_at, j.locked_by, j.revision, j.flags, j.is_available
       from add_job('task') as j $$,
  $$ values (null::integer, '{}', 0::smallint, now(), 0::smallint, 25::smallint, null::text, now(), now(), null::text,
             null::timestamptz, null::text, 0, null::jsonb, true) $$,
  'a job that is added with its task only has all defaults');

select add_job('send', '{"to": "me"}', 'mail', '2030-01-01 00:00+00', 3, 'key', -7, '{slow,big,slow}', 'replace');
select results_eq(
  $$ select j.task_identifier, j.queue_name, j.priority, j.run_at, j.max_attempts, j.key, j.flags
       from jobs as j
      where j.key = 'key' $$,
  $$ values ('send', 'mail', (-7)::smallint, '2030-01-01 00:00+00'::timestamptz, 3::smallint, 'key',
             '{"slow": true, "big": true}'::jsonb) $$,
  'values that are given, in the order of the arguments, are kept');

select is((add_job('task', flags => '{}')).flags, null, 'an empty array of flags is stored as null');

select * from finish();
rollback;
