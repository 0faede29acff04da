-- Claims one suspect, a job that a worker held when that worker died, for a worker that holds no other job. Until the
-- worker has reported the outcome, or for one heartbeat interval, get_job_batch returns nothing to this worker. So if
-- the job crashes this worker too, no other job becomes a suspect, and such crashes are counted. The queue cannot tell
-- which of a dead worker's jobs caused its crash, so all of them are claimed this way until they are completed.
-- heartbeat() returns whether a suspect is waiting. Returns no row if there is nothing to claim or if the worker
-- already runs such a job. In all other respects the function works as get_job_batch. A job of a named queue goes back
-- to its queue and starts if that is free and no job of it comes before; meanwhile its queue goes on, as past a failed
-- job.
--
-- beside: for a worker that holds other jobs. Returns a suspect for which a worker has made room without success; see
-- make_room. The function claims one such job per heartbeat interval, so a job that crashes its worker at once never
-- runs beside another suspect. If the worker dies, the crash is not counted, and the job becomes strict: it is no
-- longer claimed with beside, and get_job_batch returns nothing to its worker while the job runs. A job with a counted
-- crash is strict as well.
-- Locks: never waits. The row of the suspect, then limits, its queue and the job; skips rows that other transactions
-- have locked.
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
    id bigint, task_identifier text, payload json, queue_name text, priority smallint, run_at timestamptz,
    attempts smallint, max_attempts smallint, key text, flags jsonb, lease bigint, created_at timestamptz,
    last_error text, revision integer, streak integer, width integer) language plpgsql
  set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_column
declare
  claim      {{.schema}}._gw_claim :=
    {{.schema}}._gw_new_claim(worker_id, task_identifiers, 1, forbidden_flags, get_job_alone.now, task_forbidden_flags, null, 1);
  suspect_id bigint;
begin
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

  for suspect_id in
    select w.id
      from {{.schema}}._gw_waiting_suspects(claim) as w
     where beside is not true or not w.strict and w.room_at <= claim.claimed_at - {{.schema}}._gw_beat_every()
     order by w.priority, w.run_at, w.id
  loop
    insert into {{.schema}}._gw_suspects (job_id) values (suspect_id) on conflict do nothing; -- if its row was deleted by hand
    perform from {{.schema}}._gw_suspects as s where s.job_id = suspect_id for update skip locked;
    continue when not found or not {{.schema}}._gw_start_suspect(claim, suspect_id);
    update {{.schema}}._gw_suspects as s
       set worker_id = get_job_alone.worker_id, is_alone = beside is not true
     where s.job_id = suspect_id;
    return query
    select h.* from {{.schema}}._gw_held_jobs(worker_id, array[suspect_id], {{.schema}}._gw_lease(claim.claimed_at)) as h;
    return;
  end loop;
end;
$$;

comment on function {{.schema}}.get_job_alone(text, text[], text[], timestamptz, json, boolean) is
  'Claims one due job that another worker held when it died (a suspect), for a worker that holds no other job. get_job_batch returns nothing to this worker until it has reported the outcome, or for one heartbeat interval. heartbeat returns whether a suspect is waiting. beside: for a worker that holds other jobs; claims a suspect for which make_room was called without success. The other arguments and the columns are those of get_job_batch.';

-- Starts a suspect that waits, as the only job of a claim, and returns whether it has: if its queue is free and no job
-- of it comes before, and if the gates of its limits have room. The job is in its queue or lane then, as any other.
-- Above READ COMMITTED no job with limits starts; see _gw_claim_limited.
-- Locks: limits, the queue, the job, all without waiting.
create or replace function {{.schema}}._gw_start_suspect(claim {{.schema}}._gw_claim, suspect_id bigint)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp -- get_job_alone sets the planner options
as $$
declare
  task       {{.schema}}._gw_limited_task :=
    {{.schema}}._gw_limits_of((select j.task_id from {{.schema}}._private_jobs as j where j.id = suspect_id));
  queue_id   integer := nullif({{.schema}}._gw_unheld(-2, suspect_id), -1);
  held       integer[];
  gate_ids   integer[];
  candidates {{.schema}}._gw_candidate[];
  choice     record;
  started    record;
begin
  if task.limit_ids <> '{}' then
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
      return false;
    end if;
    held := {{.schema}}._gw_take_limits(array[task]);
    task := {{.schema}}._gw_limits_of(task.task_id); -- as they are now
    if not task.limit_ids <@ held then
      return false;
    end if;
    gate_ids := {{.schema}}._gw_count_ends(held, claim.claimed_at);
    perform {{.schema}}._gw_make_lanes(array[task], array[suspect_id]);
  end if;
  if queue_id is not null then
    perform from {{.schema}}._private_job_queues as q
      where q.id = queue_id and q.locked_at is null
        for no key update skip locked;
    if not found then
      queue_id := 0;
    end if;
  end if;

  -- A separate statement, so that it sees what the last holders of the queue and the limits committed.
  candidates := array(
    select row(s.priority, s.run_at, 0, s.id, s.ctid, s.xmin, queue_id, case when task.limit_ids <> '{}' then coalesce(l.lane_id, 0) end,
               l.gates, true, false, false, null)::{{.schema}}._gw_candidate
      from {{.schema}}._private_jobs as s
     cross join lateral {{.schema}}._gw_lane_of(task, s.payload, s.flags) as l
     where s.id = suspect_id and s.is_available and s.job_queue_id = -2 and queue_id is distinct from 0
       and not exists (
             select from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id = queue_id and (j.priority, j.run_at, j.id) < (s.priority, s.run_at, s.id)
                and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)));
  choice := {{.schema}}._gw_choose_jobs(candidates, 1, claim.claimed_at);
  started := {{.schema}}._gw_start_jobs(claim, choice.chosen, '{}');
  perform {{.schema}}._gw_name_gates(gate_ids || started.gate_ids, claim.claimed_at); -- what has ended is for the next claim, too
  return started.ids is not null;
end;
$$;

comment on function {{.schema}}._gw_start_suspect({{.schema}}._gw_claim, bigint) is 'Internal: starts a suspect that waits, as the only job of a claim, and returns whether it has: if its queue is free and no job of it comes before, and if the gates of its limits have room.';
