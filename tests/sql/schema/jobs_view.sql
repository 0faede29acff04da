-- The view jobs is Graphile Worker's public view of the queue: everything about a job except its payload and internal ids.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select a.attname, format_type(a.atttypid, a.atttypmod)
       from pg_attribute as a
      where a.attrelid = 'jobs'::regclass and a.attnum > 0
      order by a.attnum $$,
  $$ values ('id'::name, 'bigint'), ('queue_name', 'text'), ('task_identifier', 'text'), ('priority', 'smallint'),
            ('run_at', 'timestamp with time zone'), ('attempts', 'smallint'), ('max_attempts', 'smallint'),
            ('last_error', 'text'), ('created_at', 'timestamp with time zone'), ('updated_at', 'timestamp with time zone'),
            ('key', 'text'), ('locked_at', 'timestamp with time zone'), ('locked_by', 'text'), ('revision', 'integer'),
            ('flags', 'jsonb') $$,
  'the view has the columns of the contract');

select add_job('task', queue_name => 'queue', job_key => 'queued', flags => '{a}');
select add_job('task', job_key => 'plain');
select results_eq(
  $$ select key, queue_name, task_identifier, flags from jobs order by id $$,
  $$ values ('queued', 'queue', 'task', '{"a": true}'::jsonb), ('plain', null, 'task', null) $$,
  'the view has the names of the task and of the queue, which may be none');

delete from _private_tasks;
select is_empty($$ select id from jobs $$, 'a job whose task name is gone is not shown');
select is((select count(*) from _private_jobs), 2::bigint, 'the job whose task name is gone exists');

select * from finish();
rollback;
