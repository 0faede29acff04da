-- Locks the jobs for get_job_batch while there are limits, with and without limits. Returns the ctids of the jobs; their
-- queues are already locked by the worker, and their slots taken. Of jobs with limits claimed_at becomes a time at which the claim
-- had their lanes: so no other claim of this worker has jobs of them with the same locked_at, and a streak is one claim.
-- While no group waits for a lane, the lanes that have become free are read by the claims that do not fill their batches, or when
-- there are ten fronts of them: one claim reads them all for little more than what each claim would pay for one.
-- Locks: lanes, then what _gw_lock_jobs locks, without waiting.
create or replace function {{.schema}}._gw_lock_limited_jobs(
  worker_id            text,
  task_identifiers     text[],
  batch_size           integer,
  forbidden_flags      text[],
  task_forbidden_flags json,
  due                  timestamptz,
  inout claimed_at     timestamptz,
  max_bytes            integer,
  queue_batch          integer,
  out places           tid[],
  out is_lone          boolean -- no job with limits has a queue or is part of a streak
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
#variable_conflict use_column
declare
  task_ids      integer[];
  flagged_tasks integer[];
  task_flags    text[];
  state         record;
  plain_tasks   text[]    := task_identifiers; -- those whose jobs without limits may be claimed
  moving_queues text[];
  is_paused     boolean;
  freed         record;
  barring       integer[]; -- lanes that may start jobs again, see _gw_lock_freed_lanes
  fair_lanes    integer[];
  lone          record; -- the jobs with limits and the others
  laned         record; -- the jobs with limits
  seen          integer[] := array[]::integer[];
  most_fronts   integer := batch_size;
begin
  select exists (select from {{.schema}}._gw_fronts as f
                  where f.barred_by is null and f.run_at <= greatest(due, claimed_at) and f.run_at < 'infinity') as are_due,
         -- The mark of pauses and moves; see _gw_barred_tasks.
         exists (select from {{.schema}}._gw_fronts as f
                  where f.barred_by is null and f.run_at = '-infinity' and f.group_id is null and f.lane_id is null) as are_barred,
         case when task_identifiers is not null then
           array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers))
         end as task_ids,
         exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0) as suspects,
         (select count(*)
            from (select from {{.schema}}._gw_fronts as f where f.lane_id is not null and f.run_at <= greatest(due, claimed_at) limit 10) as f)
           as freed,
         exists (select from {{.schema}}._gw_fronts as f where f.barred_by is not null) as are_waiting,
         not exists (select from {{.schema}}._gw_groups as g where g.fair_lane is not null)
         and not exists (select from {{.schema}}._gw_streaks)
         and not exists (select from {{.schema}}._gw_kept_slots)
         and not exists (select from {{.schema}}._gw_pauses) as are_lone
    into state;
  if not state.are_due then
    places := {{.schema}}._gw_lock_jobs(
      worker_id, task_identifiers, batch_size, forbidden_flags, task_forbidden_flags, due, claimed_at, max_bytes, queue_batch);
    return;
  end if;
  task_ids := state.task_ids;
  if state.are_barred then
    select b.task_identifiers, b.moving_queues, b.is_paused
      into plain_tasks, moving_queues, is_paused
      from {{.schema}}._gw_barred_tasks(task_identifiers) as b;
    if is_paused then
      return;
    end if;
  end if;
  if state.suspects and {{.schema}}._gw_runs_alone(worker_id) then
    return;
  end if;
  if task_forbidden_flags is not null then
    select f.task_ids, f.flagged_tasks, f.task_flags
      into task_ids, flagged_tasks, task_flags
      from {{.schema}}._gw_task_flags(task_forbidden_flags, task_ids) as f;
  end if;
  is_lone := state.are_lone and not state.suspects and not state.are_barred;
  if state.freed > 0 and (state.freed = 10 or state.are_waiting or not is_lone) then
    freed := {{.schema}}._gw_lock_freed_lanes(due, claimed_at);
    barring := freed.barring;
    fair_lanes := freed.fair_lanes;
    state.freed := 0;
  end if;
  if is_lone and barring is null then
    if batch_size = 1 then
      lone := {{.schema}}._gw_lock_lone_lane(
        worker_id, task_identifiers, task_ids, forbidden_flags, task_forbidden_flags, flagged_tasks, task_flags,
        due, claimed_at, max_bytes, queue_batch, state.are_waiting);
    else
      lone := {{.schema}}._gw_lock_lone_lanes(
        worker_id, task_identifiers, task_ids, batch_size, forbidden_flags, task_forbidden_flags, flagged_tasks, task_flags,
        due, claimed_at, max_bytes, queue_batch, state.are_waiting);
    end if;
    if lone.places is not null then
      claimed_at := lone.claimed_at;
      places := lone.places;
      if state.freed > 0 and (cardinality(places) = batch_size) is not true then
        -- Usually no lane; otherwise a group waits since this claim began.
        freed := {{.schema}}._gw_lock_freed_lanes(due, claimed_at);
        if freed.barring is not null then
          perform {{.schema}}._gw_look_at_lanes(freed.barring);
        end if;
      end if;
      return;
    end if;
  end if;
  is_lone := false;
  for round in 1..20 loop -- each reads twice as many groups
    if round > 1 or state.freed > 0 then
      freed := {{.schema}}._gw_lock_freed_lanes(due, claimed_at);
      barring := freed.barring;
      fair_lanes := freed.fair_lanes;
    end if;
    laned := {{.schema}}._gw_lock_lanes(
      task_identifiers, task_ids, batch_size, forbidden_flags, flagged_tasks, task_flags, due, claimed_at, state.suspects, seen,
      most_fronts, queue_batch, barring, fair_lanes);
    exit when laned.group_ids is null or laned.places <> '{}' and (not laned.come_later or most_fronts > batch_size + 1000);
    perform {{.schema}}._gw_enter_lanes(worker_id, '{}', laned.group_ids, laned.fronts, claimed_at, due, laned.lanes, laned.rooms);
    if laned.places = '{}' then
      seen := seen || laned.group_ids;
      most_fronts := greatest(most_fronts, batch_size + cardinality(seen));
    else
      most_fronts := 4 * most_fronts;
    end if;
  end loop;

  if laned.places <> '{}' then
    claimed_at := clock_timestamp();
  end if;
  places := {{.schema}}._gw_lock_jobs(
    worker_id, plain_tasks, batch_size, forbidden_flags, task_forbidden_flags, due, claimed_at, max_bytes,
    queue_batch, moving_queues, case when laned.places <> '{}' then laned.places end);
  if laned.places <> '{}' then
    perform {{.schema}}._gw_enter_lanes(
      worker_id, places, laned.group_ids, laned.fronts, claimed_at, due, laned.lanes, laned.rooms, laned.widths);
  end if;
end;
$$;

comment on function {{.schema}}._gw_lock_limited_jobs(text, text[], integer, text[], json, timestamptz, timestamptz, integer, integer) is
  'Internal: locks the jobs for get_job_batch while there are limits, and returns their ctids.';
