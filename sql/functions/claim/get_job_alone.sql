-- Claims one suspect, a job that a worker held when that worker died, for a worker that holds no other job. Until the
-- worker has reported the outcome, or for one heartbeat interval, get_job_batch returns nothing to this worker. So if
-- the job crashes this worker too, no other job becomes a suspect, and such crashes are counted. The queue cannot tell
-- which of a dead worker's jobs caused its crash, so all of them are claimed this way until they are completed.
-- heartbeat() returns whether a suspect is waiting. Returns no row if there is nothing to claim or if the worker
-- already runs such a job. In all other respects the function works as get_job_batch. A job of a named queue goes back to its queue
-- and starts if that is free and no job of it comes before; meanwhile its queue goes on, as past a failed job.
--
-- beside: for a worker that holds other jobs. Returns a suspect for which a worker has made room without success; see
-- make_room. The function claims one such job per heartbeat interval, so a job that crashes its worker at once never
-- runs beside another suspect. If the worker dies, the crash is not counted, and the job becomes strict: it is no
-- longer claimed with beside, and get_job_batch returns nothing to its worker while the job runs. A job with a counted
-- crash is strict as well.
-- Locks: never waits. Locks limits before the queue row, and that before its head job; skips rows that other transactions have locked.
-- Raises GWWID (worker id), GWWFF (forbidden flags of tasks).
create or replace function {{.schema}}.get_job_alone(
  worker_id            text,
  task_identifiers     text[]      default null,
  forbidden_flags      text[]      default null,
  now                  timestamptz default now(),
  task_forbidden_flags json        default null,
  beside               boolean     default false
)
  returns table (
    id              bigint,
    task_identifier text,
    payload         json,
    queue_name      text,
    priority        smallint,
    run_at          timestamptz,
    attempts        smallint,
    max_attempts    smallint,
    key             text,
    flags           jsonb,
    lease           bigint,
    created_at      timestamptz,
    last_error      text,
    revision        integer,
    streak          integer,
    width           integer
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
#variable_conflict use_column
declare
  claim    {{.schema}}._gw_claim :=
    {{.schema}}._gw_new_claim(worker_id, task_identifiers, 1, forbidden_flags, get_job_alone.now, task_forbidden_flags, null, 1);
  suspect  record;
  queue_id integer;
begin
  claim.claimed_at := clock_timestamp();
  if {{.schema}}._gw_runs_alone(worker_id)
     or exists (select
                  from {{.schema}}._gw_suspects as s
                 cross join lateral (
                       select from {{.schema}}._private_jobs as j
                        where j.id = s.job_id and j.locked_by = get_job_alone.worker_id
                          and (beside is not true or j.locked_at > claim.claimed_at - {{.schema}}._gw_beat_every())
                       offset 0) as j -- prevents a join that could read all jobs
                 where s.worker_id = get_job_alone.worker_id) then
    return;
  end if;

  for suspect in
    select w.id, w.queue_name, w.priority, w.run_at
      from {{.schema}}._gw_waiting_suspects(claim) as w
     where beside is not true or not w.strict and w.room_at <= claim.claimed_at - {{.schema}}._gw_beat_every()
     order by w.priority, w.run_at, w.id
  loop
    queue_id := {{.schema}}._gw_unheld(-2, suspect.id);
    if queue_id > 0 then
      perform from {{.schema}}._private_job_queues as q
        where q.id = queue_id and q.locked_at is null
          for no key update skip locked;
      continue when not found;
      -- This is a separate statement, so that it sees what the last holder of the queue committed.
      continue when exists (
        select from {{.schema}}._private_jobs as j
         where j.is_available and j.job_queue_id = queue_id
           and (j.priority, j.run_at, j.id) < (suspect.priority, suspect.run_at, suspect.id)
           and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags,
                                     claim.flagged_tasks, claim.task_flags));
    end if;
    perform from {{.schema}}._private_jobs as j
      where j.id = suspect.id and j.is_available and j.job_queue_id = -2 and (j.priority, j.run_at) = (suspect.priority, suspect.run_at)
        for update skip locked;
    continue when not found;

    update {{.schema}}._private_jobs as j
       set job_queue_id = queue_id, attempts = j.attempts + 1, locked_by = worker_id, locked_at = claim.claimed_at
     where j.id = suspect.id;
    update {{.schema}}._private_job_queues as q set locked_by = worker_id, locked_at = claim.claimed_at where q.id = queue_id;
    insert into {{.schema}}._gw_suspects as s (job_id, queue_name, worker_id, is_alone)
    values (suspect.id, suspect.queue_name, get_job_alone.worker_id, beside is not true)
        on conflict on constraint _gw_suspects_pkey do update set worker_id = excluded.worker_id, is_alone = excluded.is_alone;
    return query
    select h.* from {{.schema}}._gw_held_job(worker_id, suspect.id, {{.schema}}._gw_lease(claim.claimed_at)) as h;
    return;
  end loop;
end;
$$;

comment on function {{.schema}}.get_job_alone(text, text[], text[], timestamptz, json, boolean) is
  'Claims one due job that another worker held when it died (a suspect), for a worker that holds no other job. get_job_batch returns nothing to this worker until it has reported the outcome, or for one heartbeat interval. heartbeat returns whether a suspect is waiting. beside: for a worker that holds other jobs; claims a suspect for which make_room was called without success. The other arguments and the columns are those of get_job_batch.';
