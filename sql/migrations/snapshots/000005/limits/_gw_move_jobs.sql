-- Moves up to step jobs into the groups that the limits want, and returns whether to call it again at once. Claims and
-- heartbeats call it while there is a row in _gw_moves; it does nothing if another transaction is at it.
-- A pass reads all jobs in the order of their ids. Producers that began before a change of limits may add jobs without
-- their group, until their transactions end; they hold name locks. A change is complete after a pass that began while no
-- such lock was held, and that has skipped no job. While there always is one, passes begin a second apart.
-- Running jobs are moved, too, and get their slots.
-- Locks: the row of the move; name locks and rows of tasks, at the begin of a pass; job rows by id; all without waiting.
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
  move     record;
  walked   record;
  moved    record;
  is_quiet boolean;
begin
  select m.* into move from {{.schema}}._gw_moves as m order by m.id limit 1 for update skip locked;
  if not found then
    return exists (select from {{.schema}}._gw_moves);
  end if;
  if move.place is null then
    is_quiet := {{.schema}}._gw_no_producers(move.tasks);
    update {{.schema}}._gw_moves as m
       set place = -9223372036854775808, left_over = false, is_last = is_quiet, began_at = clock_timestamp()
     where m.id = move.id and (is_quiet or m.began_at < clock_timestamp() - interval '1 second') is not false;
    return found;
  end if;

  select max(w.id) as place, count(*) as jobs, array_agg(w.id) filter (where w.is_meant) as ids
    into walked
    from (select j.id,
                 (move.tasks is null
                  or (select t.identifier from {{.schema}}._private_tasks as t where t.id = j.task_id) = any (move.tasks))
                 and case when move.queues then j.job_queue_id is not null else coalesce(j.job_queue_id, -1) < 0 end as is_meant
            from {{.schema}}._private_jobs as j
           where j.id > move.place
           order by j.id
           limit step) as w;
  if walked.ids is not null then
    -- New groups wait for other transactions that create the same ones. These may want rows of jobs by their keys, so no job is
    -- locked yet.
    perform from {{.schema}}._gw_wanted_groups(walked.ids);
    select count(*) as jobs, array_agg(l.id) as ids
      into moved
      from (select j.id from {{.schema}}._private_jobs as j where j.id = any (walked.ids) order by j.id for update skip locked) as l;
    move.left_over := move.left_over or moved.jobs < cardinality(walked.ids);
    perform {{.schema}}._gw_regroup(moved.ids);
    perform {{.schema}}._gw_wake(moved.jobs);
  end if;
  if walked.jobs = step then
    update {{.schema}}._gw_moves as m set place = walked.place, left_over = move.left_over where m.id = move.id;
    return true;
  elsif move.left_over or not move.is_last then
    update {{.schema}}._gw_moves as m set place = null where m.id = move.id;
    return true;
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
  'Internal: moves up to step jobs into the groups that the limits want, and returns whether to call it again at once.';

-- Returns the groups that the limits want for these jobs; where no limit applies, the ids of their queues. Creates groups
-- that there are not yet.
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
  'Internal: returns the groups, or else the queues, that the limits want for these jobs, and creates missing groups.';

-- Moves these jobs into the groups that the limits want. The caller holds the locks of their rows.
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
  ids    bigint[];
  wanted integer[];
  queues integer[];
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
    returning j.id, n.old_id, j.locked_at
  ), entered as (
    insert into {{.schema}}._gw_slots (lane_id, job_id, locked_at)
    select k.lane, j.id, j.locked_at
      from unnest(ids, wanted) as u (id, wanted_id)
     cross join lateral (select j.id, j.locked_at from {{.schema}}._private_jobs as j where j.id = u.id and j.locked_at is not null offset 0) as j
      join {{.schema}}._gw_groups as g on g.id = u.wanted_id
     cross join unnest(g.lanes) as k (lane)
        on conflict on constraint _gw_slots_pkey do update set locked_at = excluded.locked_at
  )
  select array_agg(m.old_id) filter (where m.old_id > 0 and m.locked_at is not null) into queues from moved as m;
  -- The queue of a running job: its worker will look for the group instead.
  if queues is not null then
    update {{.schema}}._private_job_queues as q set locked_at = null, locked_by = null where q.id = any (queues);
  end if;
  perform {{.schema}}._gw_put_fronts(job_ids);
end;
$$;

comment on function {{.schema}}._gw_regroup(bigint[]) is
  'Internal: moves these jobs into the groups that the limits want.';

-- Returns whether no transaction has added jobs of these tasks (all if null) and is still open. If so, none begins to
-- before this transaction ends.
create or replace function {{.schema}}._gw_no_producers(
  tasks text[]
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  locked bigint;
begin
  if exists (select from (select {{.schema}}._gw_name_lock('task', t.name) as id
                            from unnest(tasks) as t (name)
                           union
                          select {{.schema}}._gw_name_lock('task', '') - ({{.schema}}._gw_name_lock('task', '') & 63) + n
                            from generate_series(0, 63) as n
                           where tasks is null) as l
              where not pg_try_advisory_xact_lock(l.id)) then
    return false;
  end if;
  perform from {{.schema}}._private_tasks as t
    where t.identifier = any (tasks) or tasks is null
    order by t.id for update skip locked;
  get diagnostics locked = row_count;
  return locked = (select count(*) from {{.schema}}._private_tasks as t where t.identifier = any (tasks) or tasks is null);
end;
$$;

comment on function {{.schema}}._gw_no_producers(text[]) is
  'Internal: returns whether no open transaction has added jobs of these tasks.';

-- Deletes what is left of changed limits, once all their jobs are moved.
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
  delete from {{.schema}}._gw_slots as s where s.lane_id = any (lane_ids);
  delete from {{.schema}}._gw_fronts as f where f.lane_id = any (lane_ids) or f.group_id = any (group_ids);
  delete from {{.schema}}._gw_groups as g where g.id = any (group_ids);
  delete from {{.schema}}._gw_lanes as l where l.id = any (lane_ids);
end;
$$;

comment on function {{.schema}}._gw_drop_lanes() is
  'Internal: deletes what is left of dropped limits.';
