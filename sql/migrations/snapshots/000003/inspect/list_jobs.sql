-- Returns the jobs that match all given conditions, lowest id first, without their payloads, progress and steps (see
-- show_jobs). Conditions, paging and cost are those of matching_job_ids.
-- Raises GWIST (no such state), GWILM (max_rows is negative).
create or replace function {{.schema}}.list_jobs(
  job_state  text     default null,
  task       text     default null,
  queue      text     default null,
  job_key    text     default null,
  older_than interval default null,
  newer_than interval default null,
  job_ids    bigint[] default null,
  after_id   bigint   default null,
  max_rows   integer  default 100
)
  returns table (
    id              bigint,
    state           text,
    task_identifier text,
    queue_name      text,
    key             text,
    priority        smallint,
    run_at          timestamptz,
    attempts        smallint,
    max_attempts    smallint,
    last_error      text,
    created_at      timestamptz,
    updated_at      timestamptz,
    locked_at       timestamptz,
    locked_by       text,
    revision        integer,
    flags           jsonb
  )
  language sql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
  select s.id, s.state, s.task_identifier, s.queue_name, s.key, s.priority, s.run_at, s.attempts, s.max_attempts,
         s.last_error, s.created_at, s.updated_at, s.locked_at, s.locked_by, s.revision, s.flags
    from {{.schema}}.show_jobs(array(
           select m.id
             from {{.schema}}.matching_job_ids(
                    job_state, task, queue, job_key, older_than, newer_than, job_ids, after_id, max_rows)
               as m (id))) as s
$$;

comment on function {{.schema}}.list_jobs(text, text, text, text, interval, interval, bigint[], bigint, integer) is
  'Returns the jobs that match all given conditions, lowest id first, without their payloads. The conditions are those of matching_job_ids.';
