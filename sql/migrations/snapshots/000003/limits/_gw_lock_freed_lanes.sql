-- For claims: locks the lanes that may start jobs again, because jobs of them have ended, a limit has changed or a time has
-- come, and deletes the fronts that say so. Returns which of the lanes have barred groups, and which belong to fair limits; fronts of
-- jobs that were added to the latter are left for _gw_look_up_turns.
-- The fronts are locked, too, so that no other claim deletes one of them. Those of lanes that others have locked are left, or
-- are put again for the groups that are left. The next statements see what the transactions have done that put the fronts.
-- Locks: fronts, then lanes, without waiting.
create or replace function {{.schema}}._gw_lock_freed_lanes(
  due            timestamptz,
  claimed_at     timestamptz,
  out barring    integer[],
  out fair_lanes integer[]
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  missed integer[];
  gone   tid[];
begin
  with fronts as materialized (
    select f.ctid as place, f.lane_id, f.group_id, f.ended
      from {{.schema}}._gw_fronts as f
     where f.lane_id is not null and f.run_at <= greatest(claimed_at, due) -- by the index of such fronts
       and f.run_at <= case when f.group_id is null then claimed_at else due end
     order by f.run_at
     limit 500
       for update skip locked
  ), wanted as (
    select f.place, f.group_id as added_id, null as ended_id, f.lane_id from fronts as f where f.lane_id > 0
    union all
    select null, null, e.group_id, u.lane_id
      from fronts as f
     cross join unnest(f.ended) as e (group_id)
     cross join lateral (select g.lanes from {{.schema}}._gw_groups as g where g.id = e.group_id offset 0) as g
     cross join unnest(g.lanes) as u (lane_id)
  ), seen as materialized (
    select w.place, w.added_id, w.ended_id, l.id, l.is_fair,
           l.id is null and exists (select from {{.schema}}._gw_lanes as l where l.id = w.lane_id) as is_missed
      from wanted as w
      left join lateral (
            select l.id, l.turn is not null as is_fair from {{.schema}}._gw_lanes as l where l.id = w.lane_id for no key update skip locked
           ) as l on true
  )
  select array_agg(distinct s.id) filter (where s.id is not null), array_agg(distinct s.id) filter (where s.is_fair),
         array_agg(distinct s.ended_id) filter (where s.is_missed and s.ended_id is not null),
         array_agg(s.place) filter (where s.place is not null and not s.is_missed and (s.added_id is null or s.id is null))
         || array(select f.place from fronts as f where f.lane_id = 0)
    into barring, fair_lanes, missed, gone
    from seen as s;
  delete from {{.schema}}._gw_fronts as f where f.ctid = any (gone);
  if missed is not null then
    insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id, ended) values (0, 0, '-infinity', 0, missed);
  end if;
  -- A separate statement: the last holder of a lane may have barred a group.
  select array_agg(u.id)
    into barring
    from unnest(barring) as u (id)
   where exists (select from {{.schema}}._gw_fronts as f where f.barred_by = u.id offset 0);
end;
$$;

comment on function {{.schema}}._gw_lock_freed_lanes(timestamptz, timestamptz) is
  'Internal, for claims: locks the lanes that may start jobs again, and deletes the fronts that say so.';
