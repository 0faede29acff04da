-- For claims, after _gw_lock_lanes: records which of the jobs at these ctids are claimed at claimed_at (rates, turns), and
-- replaces the fronts of the groups by the ones after the claim. The caller holds the locks of the lanes and of the jobs and
-- updates the jobs in the same transaction. rooms: how many jobs each of lanes could start before; null elements: any number.
-- widths: how many slots each of group_ids may use; null elements: any number. If there are more jobs, they use half of these slots,
-- so that the next claim, which may be of another worker, does not have to wait for the end of this one; and _gw_streaks says so.
-- Lanes that are known to be open after the claim are not checked again. Fair lanes that start jobs get their next turns,
-- also in the fronts of their other groups, unless these are barred by a lane that the caller has not locked: such a front
-- keeps an earlier turn, until a claim that reads it corrects it.
-- Notifies the workers if groups wait for a lane that still may start jobs.
create or replace function {{.schema}}._gw_enter_lanes(
  worker_id  text,
  places     tid[],
  group_ids  integer[],
  fronts     tid[],
  claimed_at timestamptz,
  due        timestamptz,
  lanes      integer[] default null,
  rooms      integer[] default null,
  widths     integer[] default null
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
#variable_conflict use_column
declare
  entered     integer[]; -- lanes, and how many jobs start in each that _gw_slots does not return yet
  starts      bigint[];
  lane_ids    integer[];
  unsure      integer[];
  shut        integer[]; -- lanes that start no more jobs, and when they open
  opens       timestamptz[];
  open        integer[];
  fair_lanes  integer[]; -- those of the lanes entered whose limits are fair
  unrated     integer[]; -- those whose limits have no rate
  due_groups  integer[]; -- the groups that have further due jobs, and the first of these
  priorities  smallint[];
  run_ats     timestamptz[];
  job_ids     bigint[];
  renewed     integer[]; -- the groups whose fronts of later jobs are deleted
begin
  delete from {{.schema}}._gw_streaks as s
   where s.group_id = any (group_ids) and {{.schema}}._gw_is_spent(s.group_id, s.locked_at, s.locked_by);
  with started as materialized (
    select g.id, g.lanes, case when n.jobs > w.width then (w.width + 1) / 2 else n.jobs end as slots,
           case when n.waiting > w.width then (w.width + 1) / 2 else n.waiting end as waiting, n.jobs, n.job_ids
      from (select j.job_queue_id as id, count(*) as jobs, count(*) filter (where j.locked_at is null) as waiting, array_agg(j.id) as job_ids
              from {{.schema}}._private_jobs as j
             where j.ctid = any (places) and j.job_queue_id < 0
             group by j.job_queue_id) as n
     cross join lateral (select g.id, g.lanes from {{.schema}}._gw_groups as g where g.id = n.id offset 0) as g
      left join unnest(group_ids, widths) as w (id, width) on w.id = n.id
  ), streaks as (
    insert into {{.schema}}._gw_streaks (group_id, locked_at, locked_by, width)
    select s.id, claimed_at, worker_id, s.slots from started as s where s.slots < s.jobs
  ), entered as materialized (
    select k.id, n.slots, n.waiting, k.theoretic_at, k.rate, k.per
      from (select u.lane, sum(s.slots)::bigint as slots, sum(s.waiting)::bigint as waiting
              from started as s
             cross join unnest(s.lanes) as u (lane)
             group by u.lane) as n
     cross join lateral (
            select l.id, greatest(l.theoretic_at, claimed_at) as theoretic_at,
                   case when not l.is_total then coalesce(l.rate, i.rate) end as rate, coalesce(l.per, i.per) as per
              from {{.schema}}._gw_lanes as l
              join {{.schema}}._gw_limits as i on i.id = l.limit_id
             where l.id = n.lane
            offset 0) as k
  ), rated as (
    insert into {{.schema}}._gw_starts (lane_id, job_ids, free_at)
    select e.id, array(select j.id from started as s cross join unnest(s.job_ids) as j (id) where e.id = any (s.lanes)), e.theoretic_at
      from entered as e
     where e.rate is not null
  ), charged as (
    update {{.schema}}._gw_lanes as l
       set served_at = claimed_at,
           theoretic_at = case when e.rate is null then l.theoretic_at
                               else e.theoretic_at + {{.schema}}._gw_charge(e.slots, e.rate, e.per) end,
           turn = {{.schema}}._gw_turn({{.schema}}._gw_running_of(l.turn) + e.slots, claimed_at)
      from entered as e
     where l.id = e.id
       and (e.rate is not null or l.turn is not null or not {{.schema}}._gw_served_of_late(l.served_at, claimed_at))
    returning l.id, l.turn
  )
  select array_agg(e.id), array_agg(e.waiting), array_agg(e.id) filter (where e.rate is null),
         (select array_agg(c.id) from charged as c where c.turn is not null)
    into entered, starts, unrated, fair_lanes
    from entered as e;

  if fair_lanes is not null then
    update {{.schema}}._gw_fronts as f
       set turn = (select l.turn
                     from {{.schema}}._gw_groups as g
                     join {{.schema}}._gw_lanes as l on l.id = g.fair_lane
                    where g.id = f.group_id)
     where f.ctid = any (array(select o.ctid
                                 from {{.schema}}._gw_lanes as l
                                cross join lateral (select g.id from {{.schema}}._gw_groups as g
                                                     where g.fair_lane = l.id and not g.is_retired
                                                    offset 0) as g
                                cross join lateral (select f.ctid, f.barred_by, f.turn from {{.schema}}._gw_fronts as f
                                                     where f.group_id = g.id offset 0) as o
                                where l.id = any (fair_lanes) and o.turn <> l.turn
                                  and g.id not in (select u.id from unnest(group_ids) as u (id))
                                  and (o.barred_by is null or o.barred_by = any (lanes))));
  end if;

  -- The first due jobs of the groups. They come no earlier than the fronts that stood for them.
  -- Fronts of added jobs that another claim has locked in _gw_lock_freed_lanes stay: it may have locked many before it saw that
  -- this claim has their lanes.
  with gone as (
    delete from {{.schema}}._gw_fronts as f
     where f.ctid = any (array(select l.ctid from {{.schema}}._gw_fronts as l where l.ctid = any (fronts) for update skip locked))
    returning f.group_id, f.priority, f.run_at, f.job_id, f.covers
  ), old as (
    select distinct on (g.group_id)
           g.group_id, g.renews, g.job_id,
           case when g.is_whole or not g.is_due then -32768 else g.priority end::smallint as priority,
           case when g.is_whole or not g.is_due then '-infinity' else g.run_at end as run_at
      from (select g.*, g.run_at <= due as is_due,
                   bool_or(g.run_at > due or g.covers > due) over (partition by g.group_id) as renews,
                   bool_or(g.run_at <= due and g.covers = 'infinity') over (partition by g.group_id) as is_whole
              from gone as g) as g
     order by g.group_id, g.is_due desc, g.priority, g.run_at, g.job_id
  )
  select array_agg(o.group_id) filter (where o.renews), array_agg(o.group_id) filter (where j.id is not null),
         array_agg(j.priority) filter (where j.id is not null), array_agg(j.run_at) filter (where j.id is not null),
         array_agg(j.id) filter (where j.id is not null)
    into renewed, due_groups, priorities, run_ats, job_ids
    from old as o
    left join lateral (
          select j.priority, j.run_at, j.id
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id = o.group_id and (j.priority, j.run_at, j.id) >= (o.priority, o.run_at, o.job_id)
             and j.run_at <= due and j.id not in (select c.id from {{.schema}}._private_jobs as c where c.ctid = any (places)) -- hashed
           order by j.priority, j.run_at, j.id
           limit 1) as j on true;
  if renewed is not null then
    -- The first of the jobs that are due later, of each priority: it may come before what other groups have by then.
    insert into {{.schema}}._gw_fronts (group_id, lane_id, priority, run_at, job_id, covers)
    select g.id, g.fair_lane, n.priority, n.run_at, n.id, 'infinity'
      from {{.schema}}._gw_groups as g
     cross join lateral (
            with recursive priorities (priority) as (
              (select j.priority
                 from {{.schema}}._private_jobs as j
                where j.is_available and j.job_queue_id = g.id
                order by j.priority
                limit 1)
              union all
              select (select j.priority
                        from {{.schema}}._private_jobs as j
                       where j.is_available and j.job_queue_id = g.id and j.priority > p.priority
                       order by j.priority
                       limit 1)
                from priorities as p
               where p.priority is not null
            )
            select l.priority, l.run_at, l.id
              from priorities as p
             cross join lateral (
                    select j.priority, j.run_at, j.id
                      from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id = g.id and j.priority = p.priority and j.run_at > due
                     order by j.run_at
                     limit 1) as l) as n
     where g.id = any (renewed);
  end if;

  -- Of the lanes, those for which a group waits. A lane without a rate of which all slots are taken has no room.
  select array_agg(l.id),
         array_agg(l.id) filter (where r.id is null or r.room <= coalesce(e.starts, 0) and f.is_full is not true),
         array_agg(l.id) filter (where f.is_full)
    into lane_ids, unsure, shut
    from (select u.lane as id, bool_or(d.id is not null) as has_due
            from {{.schema}}._gw_groups as g
            left join unnest(due_groups) as d (id) on d.id = g.id
           cross join unnest(g.lanes) as u (lane)
           where g.id = any (group_ids)
           group by u.lane) as l
    left join unnest(lanes, rooms) as r (id, room) on r.id = l.id
    left join unnest(entered, starts) as e (id, starts) on e.id = l.id
   cross join lateral (select r.room > 0 and r.room = e.starts and l.id = any (unrated) as is_full) as f
   where l.has_due or exists (select from {{.schema}}._gw_fronts as f where f.barred_by = l.id);
  if unsure is not null then
    select array_agg(r.lane_id) || shut, array_agg(r.opens_at)
      into shut, opens
      from {{.schema}}._gw_lane_rooms(unsure, claimed_at, array(
             select coalesce(e.starts, 0)
               from unnest(unsure) with ordinality as u (id, number)
               left join unnest(entered, starts) as e (id, starts) on e.id = u.id
              order by u.number)) as r
     where r.room = 0;
  end if;

  if due_groups is not null then
    with put as (
      insert into {{.schema}}._gw_fronts (group_id, barred_by, priority, run_at, job_id, covers, turn)
      select g.id, (select min(s.lane) from unnest(shut) as s (lane) where s.lane = any (g.lanes)), n.priority, n.run_at, n.id, due,
             case when g.fair_lane is not null then (select l.turn from {{.schema}}._gw_lanes as l where l.id = g.fair_lane) end
        from unnest(due_groups, priorities, run_ats, job_ids) as n (group_id, priority, run_at, id)
        join {{.schema}}._gw_groups as g on g.id = n.group_id
      returning barred_by
    )
    insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id)
    select s.lane_id, 0, s.opens_at, 0
      from unnest(shut, opens) as s (lane_id, opens_at)
     where s.lane_id in (select p.barred_by from put as p)
       and s.opens_at is not null
       and not exists (select from {{.schema}}._gw_fronts as f where f.lane_id = s.lane_id and f.run_at = s.opens_at);
  end if;
  if lane_ids is not null then
    open := array(
      select l.id
        from unnest(lane_ids) as l (id)
       where l.id <> all (coalesce(shut, '{}'))
         and exists (select from {{.schema}}._gw_fronts as f where f.barred_by = l.id));
    if open <> '{}' then
      -- A group that was to use the room of a lane does not use it; the next group must.
      perform {{.schema}}._gw_look_at_lanes(open);
      perform {{.schema}}._gw_wake(1);
    end if;
  end if;
end;
$$;

comment on function {{.schema}}._gw_enter_lanes(text, tid[], integer[], tid[], timestamptz, timestamptz, integer[], integer[], integer[]) is
  'Internal, for claims: records which jobs with limits are claimed.';

-- Makes the next claim read these lanes.
create or replace function {{.schema}}._gw_look_at_lanes(
  lane_ids integer[]
)
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id)
  select distinct u.lane, 0, timestamptz '-infinity', 0 from unnest(lane_ids) as u (lane)
$$;

comment on function {{.schema}}._gw_look_at_lanes(integer[]) is
  'Internal: makes the next claim read these lanes.';
