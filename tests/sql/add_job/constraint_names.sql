-- Where a CHECK constraint stands below a refusal, the error carries its name: what clients of Graphile Worker look at.
begin;
select plan(5);
set local search_path = graphile_worker, public;

create function pg_temp.constraint_of(call text)
  returns text
  language plpgsql
as $$
declare
  violated text;
begin
  execute call;
  return 'no error';
exception when others then
  get stacked diagnostics violated = constraint_name;
  return violated;
end;
$$;

select is(pg_temp.constraint_of($$ select add_job(repeat('t', 129)) $$), 'tasks_identifier_check', 'a long task name');
select is(pg_temp.constraint_of($$ select add_job('t', queue_name => repeat('q', 129)) $$), 'job_queues_queue_name_check',
          'a long queue name');
select is(pg_temp.constraint_of($$ select add_job('t', job_key => repeat('k', 513)) $$), 'jobs_key_check', 'a long key');
select is(pg_temp.constraint_of($$ select add_job('t', job_key => '') $$), 'jobs_key_check', 'an empty key');
select is(pg_temp.constraint_of($$ select add_job('t', max_attempts => 0) $$), 'jobs_max_attempts_check', 'no attempt');

select * from finish();
rollback;
