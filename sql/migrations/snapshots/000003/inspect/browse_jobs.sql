-- Does what search_jobs does, for roles that must not read keys and errors: without conditions on these.
-- Raises what search_jobs raises.
create or replace function {{.schema}}.browse_jobs(
  job_state  text     default null,
  task       text     default null,
  queue      text     default null,
  older_than interval default null,
  newer_than interval default null,
  below_id   bigint   default null,
  max_rows   integer  default 50,
  max_read   integer  default 100000
)
  returns table (job_ids bigint[], next_id bigint, is_sample boolean)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select s.job_ids, s.next_id, s.is_sample
    from {{.schema}}.search_jobs(browse_jobs.job_state, browse_jobs.task, browse_jobs.queue, null, null,
                                 browse_jobs.older_than, browse_jobs.newer_than, browse_jobs.below_id,
                                 browse_jobs.max_rows, browse_jobs.max_read) as s
$$;

comment on function {{.schema}}.browse_jobs(text, text, text, interval, interval, bigint, integer, integer) is
  'Returns what search_jobs returns, without conditions on keys and errors.';

-- Returns these jobs, lowest id first, without payload, key, flags and error. Ids without a job are ignored.
create or replace function {{.schema}}.jobs_without_data(job_ids bigint[])
  returns table (
    id              bigint,
    state           text,
    task_identifier text,
    queue_name      text,
    priority        smallint,
    run_at          timestamptz,
    attempts        smallint,
    max_attempts    smallint,
    created_at      timestamptz,
    updated_at      timestamptz,
    locked_at       timestamptz,
    locked_by       text,
    revision        integer
  )
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select s.id, s.state, s.task_identifier, s.queue_name, s.priority, s.run_at, s.attempts, s.max_attempts, s.created_at,
         s.updated_at, s.locked_at, s.locked_by, s.revision
    from {{.schema}}.show_jobs(jobs_without_data.job_ids) as s
   order by s.id
$$;

comment on function {{.schema}}.jobs_without_data(bigint[]) is
  'Returns these jobs, lowest id first, without their payloads, keys, flags and errors. Ids without a job are ignored.';
