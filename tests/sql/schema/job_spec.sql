-- The type job_spec has Graphile Worker's attributes in its order, because Node builds it from JSON by name and casts
-- rows to it.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select a.attname, format_type(a.atttypid, a.atttypmod)
       from pg_attribute as a
      where a.attrelid = 'job_spec'::regclass and a.attnum > 0
      order by a.attnum $$,
  $$ values ('identifier'::name, 'text'), ('payload', 'json'), ('queue_name', 'text'), ('run_at', 'timestamp with time zone'),
            ('max_attempts', 'smallint'), ('job_key', 'text'), ('priority', 'smallint'), ('flags', 'text[]') $$,
  'a job spec has the attributes of the contract');

select results_eq(
  $$ select payload::text, priority
       from add_jobs(array(select json_populate_recordset(null::job_spec,
              '[{"identifier": "task", "payload": {"n": 1}, "priority": 3}, {"identifier": "task", "payload": null}]'))) $$,
  $$ values ('{"n": 1}', 3::smallint), ('{}', 0::smallint) $$,
  'a call that builds its specs from JSON, as Node does, adds jobs');

select * from finish();
rollback;
