-- Returns the jobs without their data: no payload, key, flags or last_error.
create or replace function {{.schema}}._gw_seen_jobs()
  returns table (
    id bigint, state text, task_identifier text, queue_name text, priority smallint, run_at timestamptz,
    attempts smallint, max_attempts smallint, created_at timestamptz, updated_at timestamptz, locked_at timestamptz,
    locked_by text, revision integer) language sql stable set search_path = pg_catalog, pg_temp
as $$
  select j.id, {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at), j.task_identifier, j.queue_name,
         j.priority, j.run_at, j.attempts, j.max_attempts, j.created_at, j.updated_at, j.locked_at, j.locked_by, j.revision
    from {{.schema}}.jobs as j
$$;

comment on function {{.schema}}._gw_seen_jobs() is 'Internal: returns the jobs without their data: no payload, key, flags or last_error.';
