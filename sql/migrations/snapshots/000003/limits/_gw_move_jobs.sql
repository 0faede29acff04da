-- Moves up to step jobs into the groups that the limits require, and returns whether to call it again at once. Claims and
-- heartbeats call it while there is a row in _gw_moves; it does nothing while another transaction moves jobs. It moves fewer
-- jobs if the move takes longer than a claim should: a limit by a field of the payload reads the payloads.
-- A pass reads all jobs in the order of their ids. Producers that began before a change of limits may add jobs without
-- their group, until their transactions end; they hold name locks. The first pass records them. A change is complete after a
-- pass that began after all of them had ended, and that has skipped no job that must be moved. Until then, passes begin half
-- a second apart. Later producers see the change.
-- Running jobs are moved as well, and then count in their new lanes.
-- Locks: the row of the move; rows of tasks, at the beginning of a pass; then as _gw_move_some. It waits only for new names,
-- lanes and groups of other transactions, for 20 milliseconds, and then tries again half a second later.
create or replace function {{.schema}}._gw_move_jobs(
  step integer default 1000
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  pause    constant interval := interval '0.5 seconds';
  ends_at  constant timestamptz := clock_timestamp() + interval '20 milliseconds';
  chunk    bigint := least(step, 100); -- jobs; doubled while there is time, and so are the bytes
  bytes    bigint := 20000; -- of payloads as they are stored; as text they may have 255 times as many
  seen     bigint := 0;
  move     record;
  walked   record;
  may_add  text[];
  held     boolean;
  left_out boolean;
begin
  select m.* into move from {{.schema}}._gw_moves as m where m.next_at <= clock_timestamp() order by m.id limit 1 for update skip locked;
  if not found then
    return exists (select from {{.schema}}._gw_moves as m where m.next_at <= clock_timestamp());
  end if;
  if move.place is null then
    may_add := {{.schema}}._gw_producers(move.tasks, move.producers);
    held := move.rows_held and not {{.schema}}._gw_tasks_are_free(move.tasks);
    update {{.schema}}._gw_moves as m
       set place = -9223372036854775808, left_over = false, is_last = may_add = '{}' and not held, producers = may_add, rows_held = held
     where m.id = move.id;
    return true;
  end if;

  loop
    select max(w.id) filter (where w.fits) as place,
           count(*) filter (where w.fits) as jobs,
           count(*) < chunk and coalesce(bool_and(w.fits), true) as is_end,
           array_agg(w.id) filter (where w.is_meant and w.fits) as ids
      into walked
      from (select j.id,
                   sum(pg_column_size(j.payload)) over (order by j.id) - pg_column_size(j.payload) < bytes as fits, -- the first one does
                   (move.tasks is null
                    or (select t.identifier from {{.schema}}._private_tasks as t where t.id = j.task_id) = any (move.tasks))
                   and case when move.queues is null then coalesce(j.job_queue_id, -1) < 0 else j.job_queue_id is not null end as is_meant
              from {{.schema}}._private_jobs as j
             where j.id > move.place
             order by j.id
             limit chunk) as w;
    if walked.ids is not null then
      begin
        left_out := {{.schema}}._gw_move_some(walked.ids);
      exception when lock_not_available or deadlock_detected then
        update {{.schema}}._gw_moves as m
           set place = move.place, left_over = move.left_over, next_at = clock_timestamp() + pause
         where m.id = move.id;
        return false;
      end;
      move.left_over := move.left_over or left_out;
    end if;
    exit when walked.is_end;
    move.place := walked.place;
    seen := seen + walked.jobs;
    if seen >= step or clock_timestamp() >= ends_at then
      update {{.schema}}._gw_moves as m set place = move.place, left_over = move.left_over where m.id = move.id;
      return true;
    end if;
    chunk := least(2 * chunk, step - seen);
    bytes := 2 * bytes;
  end loop;

  if move.left_over or not move.is_last then
    update {{.schema}}._gw_moves as m set place = null, next_at = clock_timestamp() + pause where m.id = move.id;
    return exists (select from {{.schema}}._gw_moves as m where m.next_at <= clock_timestamp());
  end if;

  delete from {{.schema}}._gw_moves as m where m.id = move.id;
  if exists (select from {{.schema}}._gw_moves) then
    return true;
  end if;
  perform {{.schema}}._gw_drop_lanes();
  perform {{.schema}}._gw_wake(1);
  return false;
end;
$$;

comment on function {{.schema}}._gw_move_jobs(integer) is
  'Internal: moves up to step jobs into the groups that the limits require, and returns whether to call it again at once.';

-- For pause() and resume(): moves the first waiting jobs of a task, or in queues of this
-- name, ten thousand at most, except those that others have locked. Workers of Graphile Worker for Node.js do not move jobs: they run
-- the jobs of a paused queue until these are moved, and those of a resumed one only when they are back. _gw_move_jobs moves the rest.
-- Locks: as _gw_move_some.
create or replace function {{.schema}}._gw_move_first_jobs(
  task   text,
  queues text
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  step     constant integer := 1000;
  chosen   constant integer := (select t.id from {{.schema}}._private_tasks as t where t.identifier = task);
  patterns constant text    := {{.schema}}._gw_pattern(queues);
  holders  constant integer[] := array(
    select q.id from {{.schema}}._private_job_queues as q where q.queue_name like patterns escape '!'
    union all
    select g.id from {{.schema}}._gw_groups as g where g.queue_name like patterns escape '!');
  ids      bigint[];
begin
  if queues is not null then
    ids := array(select j.id
                   from {{.schema}}._private_jobs as j
                  where j.is_available and j.job_queue_id = any (holders)
                  order by j.priority, j.run_at, j.id
                  limit 10 * step);
  else
    ids := array(select j.id
                   from {{.schema}}._private_jobs as j
                  where j.is_available and j.task_id = chosen
                  order by j.priority, j.run_at, j.id
                  limit 10 * step);
  end if;
  for n in 1..cardinality(ids) by step loop
    perform {{.schema}}._gw_move_some(ids[n:n + step - 1]);
  end loop;
exception when lock_not_available or deadlock_detected or serialization_failure then
  null; -- others create the same names, lanes or groups, or this transaction sees an old state of the jobs
end;
$$;

comment on function {{.schema}}._gw_move_first_jobs(text, text) is
  'Internal, for pause() and resume(): moves the first waiting jobs of a task, or in queues of this name.';

-- Moves these jobs into the groups that the limits require, except jobs that other transactions have locked. Returns whether
-- one of the skipped jobs must be moved. Notifies the workers.
-- Locks: new names, lanes and groups, as producers do; job rows by id, without waiting.
create or replace function {{.schema}}._gw_move_some(
  job_ids bigint[]
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
  set lock_timeout = '20ms'
as $$
declare
  wanted   record;
  moved    bigint[];
  left_out boolean;
begin
  -- New groups wait for other transactions that create the same ones. These may wait for rows of jobs by their keys, so no
  -- job is locked yet.
  select array_agg(w.id) as ids, array_agg(w.wanted_id) as groups into wanted from {{.schema}}._gw_wanted_groups(job_ids) as w;
  moved := array(select j.id from {{.schema}}._private_jobs as j where j.id = any (job_ids) order by j.id for update skip locked);
  left_out := cardinality(moved) < cardinality(job_ids) and exists (
    select from unnest(wanted.ids, wanted.groups) as u (id, group_id)
     cross join lateral (select j.job_queue_id from {{.schema}}._private_jobs as j where j.id = u.id offset 0) as j
     where j.job_queue_id is distinct from u.group_id
       and not exists (select from unnest(moved) as m (id) where m.id = u.id));
  perform {{.schema}}._gw_regroup(moved);
  perform {{.schema}}._gw_wake(cardinality(moved));
  return left_out;
end;
$$;

comment on function {{.schema}}._gw_move_some(bigint[]) is
  'Internal: moves these jobs into the groups that the limits require, and returns whether a job that was skipped, because it is locked, must be moved.';

-- Returns the groups that the limits require for these jobs; where no limit applies, the ids of their queues. Creates missing
-- groups.
create or replace function {{.schema}}._gw_wanted_groups(
  job_ids bigint[]
)
  returns table (
    id        bigint,
    wanted_id integer
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  ids    bigint[];
  specs  {{.schema}}.job_spec[];
  groups integer[];
begin
  select array_agg(j.id),
         array_agg(row(t.identifier, j.payload, n.queue_name, null, null, null, null,
                       case when j.flags is not null then array(select jsonb_object_keys(j.flags)) end)::{{.schema}}.job_spec)
    into ids, specs
    from {{.schema}}._private_jobs as j
    join {{.schema}}._private_tasks as t on t.id = j.task_id
   cross join lateral (
          select case when j.job_queue_id > 0 then (select q.queue_name from {{.schema}}._private_job_queues as q where q.id = j.job_queue_id)
                      when j.job_queue_id < 0 then (select g.queue_name from {{.schema}}._gw_groups as g where g.id = j.job_queue_id)
                 end as queue_name) as n
   where j.id = any (job_ids);
  -- In the order of producers: names, then lanes and groups.
  perform {{.schema}}._gw_make_names(null, array(select s.queue_name from unnest(specs) as s));
  groups := {{.schema}}._gw_groups_of(specs);
  return query
  select ids[s.number],
         coalesce(groups[s.number],
                  (select q.id from {{.schema}}._private_job_queues as q where q.queue_name = s.queue_name))
    from unnest(specs) with ordinality
      as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number);
end;
$$;

comment on function {{.schema}}._gw_wanted_groups(bigint[]) is
  'Internal: returns the groups, or else the queues, that the limits require for these jobs, and creates missing groups.';

-- Moves these jobs into the groups that the limits require. The caller holds the locks of their rows.
create or replace function {{.schema}}._gw_regroup(
  job_ids bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  ids      bigint[];
  wanted   integer[];
  left_ids integer[]; -- queues and groups that running jobs have left
  ats      timestamptz[];
begin
  select array_agg(w.id order by w.id), array_agg(w.wanted_id order by w.id)
    into ids, wanted
    from {{.schema}}._gw_wanted_groups(job_ids) as w;
  -- A separate statement, which sees new groups.
  with moved as (
    update {{.schema}}._private_jobs as j
       set job_queue_id = n.wanted_id
      from (select l.id, l.job_queue_id as old_id, u.wanted_id
              from unnest(ids, wanted) as u (id, wanted_id)
             cross join lateral (select l.id, l.job_queue_id from {{.schema}}._private_jobs as l where l.id = u.id offset 0) as l) as n
     where j.id = n.id and j.job_queue_id is distinct from n.wanted_id
    returning n.old_id, j.locked_at
  )
  select array_agg(m.old_id order by m.old_id), array_agg(m.locked_at order by m.old_id)
    into left_ids, ats
    from moved as m
   where m.old_id is not null and m.locked_at is not null;
  -- The queue of a running job: its worker will look for the group instead.
  if left_ids is not null then
    update {{.schema}}._private_job_queues as q
       set locked_at = {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, left_ids, ats),
           locked_by = case when {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, left_ids, ats) is not null then q.locked_by end
     where q.id = any (left_ids);
    perform {{.schema}}._gw_free_lanes(left_ids);
  end if;
  perform {{.schema}}._gw_put_fronts(job_ids);
end;
$$;

comment on function {{.schema}}._gw_regroup(bigint[]) is
  'Internal: moves these jobs into the groups that the limits require.';

-- Deletes the lanes and groups of changed limits that are no longer used, once all their jobs are moved.
create or replace function {{.schema}}._gw_drop_lanes()
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  lane_ids  integer[];
  group_ids integer[];
begin
  lane_ids := array(
    select l.id
      from {{.schema}}._gw_lanes as l
     where not exists (select from {{.schema}}._gw_limits as i where i.id = l.limit_id)
     order by l.id
       for update skip locked);
  group_ids := array(select g.id from {{.schema}}._gw_groups as g where g.is_retired order by g.id for update skip locked);
  delete from {{.schema}}._gw_kept_slots as s where s.lane_id = any (lane_ids);
  delete from {{.schema}}._gw_starts as s where s.lane_id = any (lane_ids);
  delete from {{.schema}}._gw_group_lanes as g where g.lane_id = any (lane_ids) or g.group_id = any (group_ids);
  delete from {{.schema}}._gw_fronts as f where f.lane_id = any (lane_ids) or f.group_id = any (group_ids);
  delete from {{.schema}}._gw_groups as g where g.id = any (group_ids);
  delete from {{.schema}}._gw_lanes as l where l.id = any (lane_ids);
end;
$$;

comment on function {{.schema}}._gw_drop_lanes() is
  'Internal: deletes what is left of dropped limits.';
