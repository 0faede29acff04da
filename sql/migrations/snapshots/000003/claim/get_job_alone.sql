-- Claims one suspect, a job that a worker held when that worker died, for a worker that holds no other job. Until the
-- worker has reported the outcome, or for one heartbeat interval, get_job_batch returns nothing to this worker. So if
-- the job crashes this worker too, no other job becomes a suspect, and such crashes are counted. The queue cannot tell
-- which of a dead worker's jobs caused its crash, so all of them are claimed this way until they are completed.
-- heartbeat() returns whether a suspect is waiting. Returns no row if there is nothing to claim or if the worker
-- already runs such a job. In all other respects the function works as get_job_batch. Node workers claim these jobs as
-- any other.
--
-- beside: for a worker that holds other jobs. Returns a suspect for which a worker has made room without success; see
-- make_room. The function claims one such job per heartbeat interval, so a job that crashes its worker at once never
-- runs beside another suspect. If the worker dies, the crash is not counted, and the job becomes strict: it is no
-- longer claimed with beside, and get_job_batch returns nothing to its worker while the job runs. A job with a counted
-- crash is strict as well.
-- Locks: never waits, but see _gw_move_jobs. Locks the queue row before its head job; skips rows that other transactions have
-- locked.
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
  claimed_at    timestamptz := clock_timestamp();
  room_over     timestamptz := claimed_at - {{.schema}}._gw_beat_every(); -- room made before this time has expired
  task_ids      integer[];
  flagged_tasks integer[];
  task_flags    text[];
  barred        record;
  lane_ids      integer[];
  suspect       record;
begin
  if (length(worker_id) between 1 and 128) is not true then
    raise exception 'Worker id must be 1 to 128 characters long.' using errcode = 'GWWID';
  elsif {{.schema}}._gw_runs_alone(worker_id)
        or exists (select
                     from {{.schema}}._gw_suspects as s
                    cross join lateral (
                          select from {{.schema}}._private_jobs as j
                           where j.id = s.job_id and j.locked_by = get_job_alone.worker_id
                             and (beside is not true or j.locked_at > room_over)
                          offset 0) as j -- prevents a join that could read all jobs
                    where s.worker_id = get_job_alone.worker_id) then
    return;
  end if;
  if task_identifiers is not null then
    task_ids := array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers));
  end if;
  if task_forbidden_flags is not null then
    select f.task_ids, f.flagged_tasks, f.task_flags
      into task_ids, flagged_tasks, task_flags
      from {{.schema}}._gw_task_flags(task_forbidden_flags, task_ids) as f;
  end if;

  barred := {{.schema}}._gw_barred_tasks(task_identifiers);
  if barred.is_paused then
    return;
  end if;

  for suspect in
    select w.id, w.revision, w.job_queue_id, w.priority, w.run_at
      from {{.schema}}._gw_waiting_suspects(task_ids, forbidden_flags, get_job_alone.now, flagged_tasks, task_flags) as w
     where beside is not true or not w.strict and w.room_at <= room_over
     order by w.priority, w.run_at, w.id
  loop
    if suspect.job_queue_id < 0 then
      lane_ids := array(
        select l.id
          from {{.schema}}._gw_lanes as l
         where l.id = any ((select g.lanes from {{.schema}}._gw_groups as g where g.id = suspect.job_queue_id and not g.is_retired)::integer[])
           for no key update skip locked);
      continue when not exists (select from {{.schema}}._gw_groups as g
                                 where g.id = suspect.job_queue_id and cardinality(g.lanes) = cardinality(lane_ids))
                    or exists (select from {{.schema}}._gw_lane_rooms(lane_ids, claimed_at) as r where r.room = 0);
    elsif suspect.job_queue_id is not null and {{.schema}}._gw_queue_moves(suspect.job_queue_id, barred.moving_queues)
          or exists (select from {{.schema}}._private_jobs as j
                       join {{.schema}}._private_tasks as t on t.id = j.task_id
                      where j.id = suspect.id and (t.identifier = any (barred.task_identifiers)) is false) then
      continue; -- it is to be moved
    elsif suspect.job_queue_id is not null then
      perform from {{.schema}}._private_job_queues as q
        where q.id = suspect.job_queue_id and q.locked_at is null
          for no key update skip locked;
      continue when not found;
      -- This is a separate statement, so that it sees what the last holder of the queue committed.
      continue when exists (
        select from {{.schema}}._private_jobs as j
         where j.is_available and j.job_queue_id = suspect.job_queue_id
           and (j.priority, j.run_at, j.id) < (suspect.priority, suspect.run_at, suspect.id)
           and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, get_job_alone.now, task_ids, forbidden_flags, flagged_tasks, task_flags));
    end if;

    update {{.schema}}._private_jobs as j
       set attempts = j.attempts + 1, locked_by = worker_id, locked_at = claimed_at
     where j.id = (select l.id
                     from {{.schema}}._private_jobs as l
                    where l.id = suspect.id and l.is_available
                      and (l.revision, l.priority, l.run_at) = (suspect.revision, suspect.priority, suspect.run_at)
                      and l.job_queue_id is not distinct from suspect.job_queue_id
                      for update skip locked);
    continue when not found;
    return query
    select h.* from {{.schema}}._gw_held_job(worker_id, suspect.id, {{.schema}}._gw_lease(claimed_at)) as h;

    update {{.schema}}._gw_suspects as s set worker_id = get_job_alone.worker_id, is_alone = beside is not true where s.job_id = suspect.id;
    update {{.schema}}._private_job_queues as q
       set locked_by = worker_id, locked_at = claimed_at
     where q.id = suspect.job_queue_id;
    if suspect.job_queue_id < 0 then
      perform {{.schema}}._gw_enter_lanes(
        worker_id, array(select j.ctid from {{.schema}}._private_jobs as j where j.id = suspect.id), array[suspect.job_queue_id], '{}',
        claimed_at, get_job_alone.now);
    end if;
    return;
  end loop;
end;
$$;

comment on function {{.schema}}.get_job_alone(text, text[], text[], timestamptz, json, boolean) is
  'Claims one due job that another worker held when it died (a suspect), for a worker that holds no other job. get_job_batch returns nothing to this worker until it has reported the outcome, or for one heartbeat interval. heartbeat returns whether a suspect is waiting. beside: for a worker that holds other jobs; claims a suspect for which make_room was called without success. The other arguments and the columns are those of get_job_batch.';
