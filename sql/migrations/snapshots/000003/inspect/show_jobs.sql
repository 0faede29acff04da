-- Returns all columns of these jobs, lowest id first, and what their attempts have stored: progress in percent, its
-- note and when it was reported (see set_progress), and the names of the steps (see save_step). Ids without a job are
-- ignored.
create or replace function {{.schema}}.show_jobs(job_ids bigint[])
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
    flags           jsonb,
    payload         json,
    progress        real,
    progress_note   text,
    progress_at     timestamptz,
    steps           text[]
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
begin
  return query
  select j.id, {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at), t.identifier,
         {{.schema}}._gw_queue_name(j.job_queue_id, j.id), j.key, j.priority, j.run_at, j.attempts, j.max_attempts,
         j.last_error, j.created_at, j.updated_at, j.locked_at, j.locked_by, j.revision, j.flags, j.payload, p.percent, p.note, p.reported_at,
         case when pg_relation_size('{{ replace "'" "''" .schema }}._gw_steps'::regclass) > 0 then
                (select array_agg(s.name order by s.saved_at, s.name)
                   from {{.schema}}._gw_steps as s
                  where s.job_id = j.id and s.revision = j.revision)
         end
    from {{.schema}}._private_jobs as j
    left join {{.schema}}._private_tasks as t on t.id = j.task_id
    left join {{.schema}}._gw_job_progress(job_ids) as p on p.job_id = j.id
   where j.id = any (job_ids)
   order by j.id;
end;
$$;

comment on function {{.schema}}.show_jobs(bigint[]) is
  'Returns all columns of these jobs, payloads included, lowest id first, with their progress and the names of their steps. Ids without a job are ignored.';
