-- Returns what is recorded of a job of a kept task: one line per attempt, and one for an end that was no attempt,
-- oldest first. The last line of a job that has gone is its end. Times are exact to a microsecond, or after ten to
-- twenty minutes to a tenth of a millisecond and seven digits.
-- outcome: completed; failed (tried again); permanently_failed; snoozed; returned (the attempt does not count: not
-- started, or interrupted); recovered (its worker died); canceled; replaced (by its key while it ran); removed.
-- attempt: the number of the attempt; a returned one has the number of the next. worker_id and started_at (the claim)
-- are null for an end without a worker.
-- place: the named queue, and the lanes of a job with limits. error: the first line. payload and result: if the task
-- keeps them.
-- Locks: the tables of the history, in access share mode.
-- Performance: rows of other tasks may span the job's id, so the ids of a row are compared before its records are
-- unpacked.
create or replace function {{.schema}}.job_history(job_id bigint)
  returns table (
    attempt         smallint,
    max_attempts    smallint,
    outcome         text,
    worker_id       text,
    place           text,
    started_at      timestamptz,
    ended_at        timestamptz,
    error           text,
    task_identifier text,
    key             text,
    created_at      timestamptz,
    run_at          timestamptz,
    payload         json,
    result          json
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set jit = off
as $$
begin
  -- In a statement of its own: the next one has a later snapshot, which shows records that were being moved.
  lock table {{.schema}}._gw_ended in access share mode;
  return query
  select l.attempt, l.max_attempts, l.outcome, l.worker_id, l.place, l.started_at, l.ended_at, l.detail, l.task, l.key,
         l.created_at, l.run_at, l.payload, l.result
    from (select r.*
            from {{.schema}}._gw_ended as e
           cross join lateral {{.schema}}._gw_recent_lines(e) as r
           where e.first_id between job_history.job_id - 8191 and job_history.job_id and e.last_id >= job_history.job_id
             and job_history.job_id = any (e.job_ids) and r.job_id = job_history.job_id
          union all
          select r.*
            from {{.schema}}._gw_history as h
           cross join lateral {{.schema}}._gw_packed_lines(h) as r
           where h.first_id between job_history.job_id - 8191 and job_history.job_id and h.last_id >= job_history.job_id
             and job_history.job_id - h.first_id = any (h.id_offsets) and r.job_id = job_history.job_id) as l
   order by l.ended_at, l.attempt;
end;
$$;

comment on function {{.schema}}.job_history(bigint) is
  'Returns the attempts and the end of a job of a kept task, oldest first, also after the job has gone: attempt, outcome (completed, failed, permanently_failed, snoozed, returned, recovered, canceled, replaced, removed), worker, queue and lanes, times, the first line of the error, and the payload and the result if the task keeps them.';
