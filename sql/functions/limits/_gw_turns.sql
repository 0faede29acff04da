-- The lanes of fair limits take turns: among jobs of equal priority the lane with the fewest running jobs comes first, then
-- the lane that has started no job for the longest time. Returns the turn of a lane as a number; the smallest comes first. The
-- function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_turn(
  running   bigint,
  served_at timestamptz
)
  returns bigint
  language sql
  stable
as $$
  select running operator(pg_catalog.*) 10000000000000
         operator(pg_catalog.+) coalesce((extract(epoch from served_at) operator(pg_catalog.*) 1000)::bigint, 0)
$$;

comment on function {{.schema}}._gw_turn(bigint, timestamptz) is
  'Internal: returns the turn of a lane of a fair limit; the smallest comes first.';

-- Returns the running jobs of a turn. The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_running_of(
  turn bigint
)
  returns bigint
  language sql
  immutable
as $$
  select turn operator(pg_catalog./) 10000000000000
$$;

comment on function {{.schema}}._gw_running_of(bigint) is
  'Internal: returns the running jobs of a turn.';

-- Returns the turns of lanes of fair limits for the jobs that run now. Claims and why() call it. Slots count as in
-- _gw_lane_rooms.
create or replace function {{.schema}}._gw_turns(
  lane_ids integer[]
)
  returns table (lane_id integer, turn bigint)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
begin
  return query
  select l.id,
         {{.schema}}._gw_turn(
           (select count(*)
              from {{.schema}}._gw_slots as s
             where s.lane_id = l.id
               and (select j.locked_at = s.locked_at from {{.schema}}._private_jobs as j where j.id = s.job_id)),
           l.served_at)
    from {{.schema}}._gw_lanes as l
   where l.id = any (lane_ids);
end;
$$;

comment on function {{.schema}}._gw_turns(integer[]) is
  'Internal: returns the turns of lanes of fair limits for the jobs that run now.';

-- For claims: computes the turns of lanes of fair limits in which jobs were added or have ended, and moves the fronts of
-- their groups to the places of these turns. Only a claim that holds a lane starts a job in it, so an outdated turn is either
-- too early, or there is a front that records the change.
-- Fronts are found by the index of groups: coalesce prevents plans with the indexes of all ordered or barred fronts, which
-- the planner estimates as small if they were empty when the table was analyzed.
-- The caller holds the locks of the lanes, from an earlier statement, but not of other lanes that bar their groups. So barred
-- fronts are not changed: a second front at the better place stands for the same job, until a claim that holds all lanes of
-- the group deletes both.
-- Locks: fronts of these lanes.
create or replace function {{.schema}}._gw_look_up_turns(
  lane_ids   integer[],
  due        timestamptz,
  claimed_at timestamptz
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
  group_ids  integer[]; -- of jobs that were added
  priorities smallint[];
  run_ats    timestamptz[];
  job_ids    bigint[];
  all_covers timestamptz[];
begin
  with gone as (
    delete from {{.schema}}._gw_fronts as f
     where f.lane_id = any (lane_ids) and f.run_at <= case when f.group_id is null then claimed_at else due end
    returning f.group_id, f.priority, f.run_at, f.job_id, f.covers
  )
  select array_agg(g.group_id), array_agg(g.priority), array_agg(g.run_at), array_agg(g.job_id), array_agg(g.last_covers)
    into group_ids, priorities, run_ats, job_ids, all_covers
    from (select distinct on (g.group_id, g.priority) g.*, max(g.covers) over (partition by g.group_id, g.priority) as last_covers
            from gone as g
           where g.group_id is not null
           order by g.group_id, g.priority, g.run_at, g.job_id) as g;
  -- A separate statement, which sees the effects of the transactions whose fronts were deleted.
  with turns as materialized (
    select t.lane_id, t.turn from {{.schema}}._gw_turns(lane_ids) as t
  ), kept as (
    update {{.schema}}._gw_lanes as l
       set turn = t.turn
      from turns as t
     where l.id = t.lane_id and l.turn <> t.turn
  ), moved as (
    update {{.schema}}._gw_fronts as f
       set turn = (select t.turn
                     from {{.schema}}._gw_groups as g
                     join turns as t on t.lane_id = g.fair_lane
                    where g.id = f.group_id)
     where f.ctid = any (array(select o.ctid
                                 from turns as t
                                cross join lateral (select g.id from {{.schema}}._gw_groups as g
                                                     where g.fair_lane = t.lane_id and not g.is_retired offset 0) as g
                                cross join lateral (select f.ctid from {{.schema}}._gw_fronts as f
                                                     where f.group_id = g.id and f.barred_by is null
                                                       and coalesce(f.turn, t.turn) <> t.turn offset 0) as o))
  )
  insert into {{.schema}}._gw_fronts (group_id, barred_by, priority, run_at, job_id, covers, turn)
  select u.group_id, null, u.priority, u.run_at, u.job_id, u.covers, t.turn
    from unnest(group_ids, priorities, run_ats, job_ids, all_covers) as u (group_id, priority, run_at, job_id, covers)
    join {{.schema}}._gw_groups as g on g.id = u.group_id
    join turns as t on t.lane_id = g.fair_lane
  union all
  (select distinct on (g.id, f.barred_by) g.id, f.barred_by, f.priority, f.run_at, f.job_id, f.covers, t.turn
     from turns as t
    cross join lateral (select g.id from {{.schema}}._gw_groups as g
                         where g.fair_lane = t.lane_id and not g.is_retired offset 0) as g
    cross join lateral (select f.* from {{.schema}}._gw_fronts as f
                         where f.group_id = g.id and coalesce(f.barred_by, 0) > 0 offset 0) as f
    where not exists (select from {{.schema}}._gw_fronts as o
                       where o.group_id = g.id and coalesce(o.barred_by, 0) = f.barred_by and o.turn <= t.turn
                      offset 0)
    order by g.id, f.barred_by, f.priority, f.run_at, f.job_id);
end;
$$;

comment on function {{.schema}}._gw_look_up_turns(integer[], timestamptz, timestamptz) is
  'Internal, for claims: computes the turns of lanes of fair limits, and moves the fronts of their groups accordingly.';
