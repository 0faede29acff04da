-- Adds jobs in the order of the specs and returns their ids in that order. The function does this only in the schema
-- for roles, where its body is _gw_enqueue_jobs_body() and it has the rights of the caller. In the queue's own schema,
-- which has add_job and add_jobs, it adds nothing and returns no rows. So a client, which only has the name of its
-- schema, can tell the two kinds of schema apart.
-- specs is an array of objects with the members of job_spec. payload is text, run_in (microseconds from now) may
-- replace run_at, and mode is the job_key_mode.
create or replace function {{.schema}}._gw_enqueue_jobs(specs json)
  returns setof bigint language sql stable set search_path = pg_catalog, pg_temp
as $$
  select null::bigint where false
$$;

comment on function {{.schema}}._gw_enqueue_jobs(json) is 'Internal: adds jobs in the order of the specs and returns their ids in that order.';

-- Returns the body of _gw_enqueue_jobs in the schema for roles. It raises 42501 for a task that the caller may not
-- enqueue.
create or replace function {{.schema}}._gw_enqueue_jobs_body(api text)
  returns text language sql immutable set search_path = pg_catalog, pg_temp
as $body$
  select format($$declare
  spec  record;
  tasks text[];
begin
  if exists (select from pg_proc as p
              where p.pronamespace = %1$L::regnamespace and p.proname = 'enqueue' and has_function_privilege(p.oid, 'execute')) then
    return query
    select %1$s.enqueue(s.task, s.payload::json, s.queue_name, coalesce(s.run_at, now() + s.run_in * interval '1 microsecond'),
                        s.max_attempts, s.job_key, s.priority, s.flags, s.mode)
      from rows from (json_to_recordset(specs) as (
             task text, payload text, queue_name text, run_at timestamptz, run_in bigint, max_attempts integer, job_key text,
             priority integer, flags text[], mode text)) with ordinality as s
     order by s.ordinality;
    return;
  end if;

  select array_agg(substr(p.proname::text, 9) order by p.proname)
    into tasks
    from pg_proc as p
   where p.pronamespace = %1$L::regnamespace and starts_with(p.proname::text, 'enqueue_') and has_function_privilege(p.oid, 'execute');
  for spec in
    select s.*
      from rows from (json_to_recordset(specs) as (
             task text, payload text, queue_name text, run_at timestamptz, run_in bigint, max_attempts integer, job_key text,
             priority integer, flags text[], mode text)) with ordinality as s
     order by s.ordinality
  loop
    if spec.task is null or spec.task <> all (tasks) then
      raise exception 'This role may enqueue jobs of these tasks only: %%.', array_to_string(tasks, ', ')
        using errcode = 'insufficient_privilege';
    end if;
    return query execute format('select %%s.%%I($1, $2, $3, $4, $5, $6, $7, $8)', %1$L, 'enqueue_' || spec.task)
      using spec.payload::json, spec.queue_name, coalesce(spec.run_at, now() + spec.run_in * interval '1 microsecond'),
            spec.max_attempts, spec.job_key, spec.priority, spec.flags, spec.mode;
  end loop;
end$$, quote_ident(api))
$body$;

comment on function {{.schema}}._gw_enqueue_jobs_body(text) is 'Internal: returns the body of _gw_enqueue_jobs in the schema for roles.';
