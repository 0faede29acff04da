-- For heartbeats: cleans up after jobs and pauses that have ended without a call. The function makes claims read lanes that have
-- barred groups although they may start jobs, or whose turn is too late: rows may be deleted by hand, and by Graphile Worker's
-- functions. It looks at up to 500 such lanes, from a random one on. It deletes records that are no longer needed, removes pauses
-- that have ended, and deletes unused lanes. Groups whose first job was changed by hand, so that it comes before all their
-- fronts, get a front for it.
-- If a group is due and no worker takes its jobs, for example because no worker has their tasks, claims read the groups again
-- that wait for the same lanes.
-- Locks: records, skipping locked ones; for pauses what resume locks; then what _gw_drop_idle_lanes locks.
create or replace function {{.schema}}._gw_mend_lanes()
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  lane_ids integer[];
begin
  perform {{.schema}}._gw_drop_spent_starts();
  with first as materialized (
    select min(l.id) + floor(random() * (max(l.id) - min(l.id) + 1))::integer as id from {{.schema}}._gw_lanes as l
  ), seen as materialized (
    (select l.id, l.turn from {{.schema}}._gw_lanes as l where l.id >= (select f.id from first as f) order by l.id limit 500)
    union all
    (select l.id, l.turn from {{.schema}}._gw_lanes as l where l.id < (select f.id from first as f) order by l.id limit 500)
     limit 500
  ), barring as (
    select r.lane_id
      from {{.schema}}._gw_lane_rooms(
             array(select s.id from seen as s where exists (select from {{.schema}}._gw_fronts as f where f.barred_by = s.id offset 0)),
             clock_timestamp()) as r
     where r.room is distinct from 0
  ), late as (
    select s.id
      from seen as s
      join {{.schema}}._gw_turns(array(select f.id from seen as f where f.turn is not null)) as t on t.lane_id = s.id
     where s.turn > t.turn
  )
  select array_agg(u.lane_id) into lane_ids from (select b.lane_id from barring as b union select l.id from late as l) as u (lane_id);
  if lane_ids is not null then
    perform {{.schema}}._gw_look_at_lanes(lane_ids);
    perform {{.schema}}._gw_wake(1);
  end if;
  lane_ids := array(
    select distinct u.lane
      from (select g.lanes
              from {{.schema}}._gw_fronts as f
              join {{.schema}}._gw_groups as g on g.id = f.group_id
             where f.barred_by is null and f.run_at <= clock_timestamp() and f.run_at < 'infinity' and f.group_id is not null
             order by f.run_at
             limit 100) as g
     cross join unnest(g.lanes) as u (lane)
     where exists (select from {{.schema}}._gw_fronts as f where f.barred_by = u.lane));
  if lane_ids <> '{}' then
    perform {{.schema}}._gw_look_at_lanes(lane_ids);
    perform {{.schema}}._gw_wake(1);
  end if;
  perform {{.schema}}._gw_mend_fronts();
  perform {{.schema}}.resume(p.task, p.queue_name, case when num_nulls(p.task, p.queue_name) = 2 then p.limit_name end, p.lane)
     from (select p.* from {{.schema}}._gw_pauses as p where p.until < clock_timestamp() order by p.id for update skip locked) as p;
  perform {{.schema}}._gw_drop_idle_lanes(); -- last, because producers may wait for it
end;
$$;

comment on function {{.schema}}._gw_mend_lanes() is
  'Internal, for heartbeats: makes claims read lanes whose jobs have ended without a call, removes pauses that have ended, and deletes idle lanes.';

-- For heartbeats: deletes the kept slots whose time is over, the starts of jobs that would be refunded nothing, and streaks
-- without jobs.
-- Locks: these rows, without waiting.
create or replace function {{.schema}}._gw_drop_spent_starts()
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  delete from {{.schema}}._gw_kept_slots as k
   where k.ctid = any (array(select o.ctid from {{.schema}}._gw_kept_slots as o where o.kept_until <= clock_timestamp() for update skip locked));
  delete from {{.schema}}._gw_starts as s
   where s.ctid = any (array(select o.ctid
                               from {{.schema}}._gw_starts as o
                               left join {{.schema}}._gw_lanes as l on l.id = o.lane_id
                               left join {{.schema}}._gw_limits as i on i.id = l.limit_id
                              where coalesce(l.rate, i.rate) is null
                                 or o.free_at < clock_timestamp()
                                                - {{.schema}}._gw_charge(cardinality(o.job_ids), coalesce(l.rate, i.rate), coalesce(l.per, i.per))
                                for update of o skip locked));
  delete from {{.schema}}._gw_streaks as s
   where s.ctid = any (array(select o.ctid
                               from {{.schema}}._gw_streaks as o
                              where {{.schema}}._gw_is_spent(o.group_id, o.locked_at, o.locked_by)
                                for update skip locked));
$$;

comment on function {{.schema}}._gw_drop_spent_starts() is
  'Internal, for heartbeats: deletes kept slots whose time is over, starts that would be refunded nothing, and streaks without jobs.';

-- For heartbeats: puts fronts for the first jobs of groups that have none there, of up to most groups, from a random one on.
-- Such jobs were changed by hand: whoever else makes a job available puts a front in the same transaction. So one statement
-- sees both or neither.
create or replace function {{.schema}}._gw_mend_fronts(
  most integer default 200
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  job_ids bigint[];
begin
  with first as materialized (
    select min(g.id) + floor(random() * (max(g.id) - min(g.id) + 1))::integer as id from {{.schema}}._gw_groups as g
  ), seen as (
    (select g.id from {{.schema}}._gw_groups as g where g.id >= (select f.id from first as f) order by g.id limit most)
    union all
    (select g.id from {{.schema}}._gw_groups as g where g.id < (select f.id from first as f) order by g.id limit most)
     limit most
  )
  select array_agg(j.id)
    into job_ids
    from seen as s
   cross join lateral (
          select j.id, j.priority, j.run_at
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id = s.id
           order by j.priority, j.run_at, j.id
           limit 1) as j
   where not exists (select from {{.schema}}._gw_fronts as f
                      where f.group_id = s.id
                        and case when f.covers = 'infinity' then f.run_at <= j.run_at
                                 else (f.priority, f.run_at, f.job_id) <= (j.priority, j.run_at, j.id) and j.run_at <= f.covers end
                     offset 0);
  if job_ids is not null then
    perform {{.schema}}._gw_put_fronts(job_ids);
    perform {{.schema}}._gw_wake(1);
  end if;
end;
$$;

comment on function {{.schema}}._gw_mend_fronts(integer) is
  'Internal, for heartbeats: puts missing fronts for the first jobs of groups.';
