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

-- Returns the turns of lanes of fair limits for the jobs that run now. Claims and why() call it.
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
  select l.id, {{.schema}}._gw_turn(coalesce(s.running, 0), l.served_at)
    from {{.schema}}._gw_lanes as l
    left join (select s.lane_id, count(*) as running
                 from {{.schema}}._gw_slots(lane_ids) as s
                where s.kept_until is null
                group by s.lane_id) as s on s.lane_id = l.id
   where l.id = any (lane_ids);
end;
$$;

comment on function {{.schema}}._gw_turns(integer[]) is
  'Internal: returns the turns of lanes of fair limits for the jobs that run now.';

-- For claims: computes the turns of lanes of fair limits in which jobs were added or have ended, and moves the fronts of
-- their groups to the places of these turns. The fronts that record that jobs were added have no turn yet. A front with a turn and
-- an earlier place stands for these jobs, too, from now on.
-- Only a claim that holds a lane starts a job in it, so an outdated turn is either too early, or there is a front that records the
-- change.
-- Fronts are found by the index of groups: coalesce prevents plans with the indexes of all ordered or barred fronts, which
-- the planner estimates as small if they were empty when the table was analyzed.
-- The caller holds the locks of the lanes, from an earlier statement, but not of other lanes that bar their groups. So barred
-- fronts are not changed: a second front at the better place stands for the same job, until a claim that holds all lanes of
-- the group deletes both.
-- Locks: fronts of these lanes, without waiting.
create or replace function {{.schema}}._gw_look_up_turns(
  lane_ids integer[],
  due      timestamptz
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
begin
  with turns as materialized (
    select t.lane_id, t.turn from {{.schema}}._gw_turns(lane_ids) as t
  ), kept as (
    update {{.schema}}._gw_lanes as l
       set turn = t.turn
      from turns as t
     where l.id = t.lane_id and l.turn <> t.turn
  ), fronts as materialized (
    select f.*, t.turn as new_turn
      from turns as t
     cross join lateral (select g.id from {{.schema}}._gw_groups as g
                          where g.fair_lane = t.lane_id and not g.is_retired offset 0) as g
     cross join lateral (select f.ctid as place, f.group_id, f.lane_id is not null as is_new, f.barred_by, f.priority, f.run_at, f.job_id, f.covers,
                                f.turn
                           from {{.schema}}._gw_fronts as f
                          where f.group_id = g.id offset 0) as f
  ), gone as (
    delete from {{.schema}}._gw_fronts as f
     where f.ctid = any (array(select a.ctid
                                 from fronts as n
                                cross join lateral (select a.ctid from {{.schema}}._gw_fronts as a
                                                     where a.ctid = n.place for update skip locked) as a
                                where n.is_new and n.run_at <= due))
    returning f.group_id, f.priority, f.run_at, f.job_id, f.covers
  ), come as materialized (
    select distinct on (g.group_id, g.priority)
           g.group_id, g.priority, g.run_at, g.job_id, max(g.covers) over (partition by g.group_id, g.priority) as covers, t.turn
      from gone as g
      join {{.schema}}._gw_groups as o on o.id = g.group_id
      join turns as t on t.lane_id = o.fair_lane
     order by g.group_id, g.priority, g.run_at, g.job_id
  ), covering as materialized (
    select c.group_id, c.priority, n.place, c.covers, c.turn
      from come as c
     cross join lateral (
            select f.ctid as place
              from {{.schema}}._gw_fronts as f
             where f.group_id = c.group_id and f.priority = c.priority and coalesce(f.barred_by, 0) = 0 and f.turn is not null
               and (f.run_at, f.job_id) <= (c.run_at, c.job_id)
             order by coalesce(f.run_at, f.run_at), f.job_id
             limit 1) as n
     where c.covers < 'infinity'
  ), covered as (
    update {{.schema}}._gw_fronts as f
       set turn = c.turn, covers = greatest(f.covers, c.covers)
      from covering as c
     where f.ctid = c.place
  ), moved as (
    update {{.schema}}._gw_fronts as f
       set turn = n.new_turn
      from fronts as n
     where f.ctid = n.place and n.barred_by is null and n.turn <> n.new_turn
       and n.place not in (select c.place from covering as c)
  )
  insert into {{.schema}}._gw_fronts (group_id, barred_by, priority, run_at, job_id, covers, turn)
  (select c.group_id, null, c.priority, c.run_at, c.job_id, c.covers, c.turn
     from come as c
    where (c.group_id, c.priority) not in (select n.group_id, n.priority from covering as n))
  union all
  (select distinct on (b.group_id, b.barred_by) b.group_id, b.barred_by, b.priority, b.run_at, b.job_id, b.covers, b.new_turn
     from (select n.*, min(n.turn) over (partition by n.group_id, n.barred_by) as first_turn
             from fronts as n
            where n.barred_by is not null) as b
    where b.first_turn > b.new_turn
    order by b.group_id, b.barred_by, b.priority, b.run_at, b.job_id);
end;
$$;

comment on function {{.schema}}._gw_look_up_turns(integer[], timestamptz) is
  'Internal, for claims: computes the turns of lanes of fair limits, and moves the fronts of their groups accordingly.';
