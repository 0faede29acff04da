-- If the table would refuse a raw write, too, the error has the fields of that error, which clients of Graphile Worker read.
begin;
select plan(8);
set local search_path = graphile_worker, public;

create function pg_temp.fields_of(call text)
  returns text[]
  language plpgsql
as $$
declare
  schema_of  text;
  table_of   text;
  column_of  text;
  constraint_of text;
  detail_of  text;
begin
  execute call;
  return array['no error'];
exception when others then
  get stacked diagnostics schema_of = schema_name, table_of = table_name, column_of = column_name,
                          constraint_of = constraint_name, detail_of = pg_exception_detail;
  return array[schema_of, table_of, column_of, constraint_of, detail_of];
end;
$$;

select is(pg_temp.fields_of($$ select add_job(repeat('t', 129)) $$),
          array['graphile_worker', '_private_tasks', '', 'tasks_identifier_check', ''],
          'a task identifier that is too long has the fields of its constraint');
select is(pg_temp.fields_of($$ select add_job('t', queue_name => repeat('q', 129)) $$),
          array['graphile_worker', '_private_job_queues', '', 'job_queues_queue_name_check', ''],
          'a queue name that is too long has the fields of its constraint');
select is(pg_temp.fields_of($$ select add_job('t', job_key => repeat('k', 513)) $$),
          array['graphile_worker', '_private_jobs', '', 'jobs_key_check', ''],
          'a key that is too long has the fields of its constraint');
select is(pg_temp.fields_of($$ select add_job('t', job_key => '') $$),
          array['graphile_worker', '_private_jobs', '', 'jobs_key_check', ''],
          'an empty key has the fields of its constraint');
select is(pg_temp.fields_of($$ select add_job('t', max_attempts => 0) $$),
          array['graphile_worker', '_private_jobs', '', 'jobs_max_attempts_check', ''],
          'max_attempts of 0 has the fields of its constraint');
select is(pg_temp.fields_of($$ select add_job(null) $$),
          array['graphile_worker', '_private_tasks', 'identifier', '', ''],
          'a task that is null has the fields of its column');
select is(pg_temp.fields_of($$ select add_jobs(array[row('t', null, null, null, null, '', null, null)]::job_spec[]) $$),
          array['graphile_worker', '_private_jobs', '', 'jobs_key_check', 'It is spec 1 of the call.'],
          'an empty key in add_jobs has the fields of its constraint and the number of the spec');
select is(pg_temp.fields_of($$ select add_job('t', priority => 40000) $$),
          array['', '', '', '', ''], 'a priority out of range has no fields of a table');

select * from finish();
rollback;
