-- For claims, after _gw_lock_lanes: records which of the jobs at these ctids are claimed at claimed_at (slots, rates), and
-- replaces the fronts of the groups by what is true then. The caller holds the locks of the lanes and of the jobs and
-- updates the jobs in the same transaction.
-- Notifies the workers if groups wait for a lane that still may start jobs.
create or replace function {{.schema}}._gw_enter_lanes(
  places     tid[],
  group_ids  integer[],
  fronts     tid[],
  claimed_at timestamptz,
  due        timestamptz
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
  lane_ids integer[];
  open     integer[];
begin
  with entered as (
    insert into {{.schema}}._gw_slots as s (lane_id, job_id, locked_at)
    select u.lane, j.id, claimed_at
      from {{.schema}}._private_jobs as j
     cross join lateral (select g.lanes from {{.schema}}._gw_groups as g where g.id = j.job_queue_id offset 0) as g
     cross join unnest(g.lanes) as u (lane)
     where j.ctid = any (places) and j.job_queue_id < 0
        on conflict on constraint _gw_slots_pkey do update set locked_at = excluded.locked_at
    returning s.lane_id
  )
  update {{.schema}}._gw_lanes as l
     set served_at = claimed_at,
         theoretic_at = case when e.rate is null then l.theoretic_at
                             else greatest(l.theoretic_at, claimed_at) + {{.schema}}._gw_charge(e.starts, e.rate, e.per) end
    from (select k.id, case when not k.is_total then coalesce(k.rate, i.rate) end as rate, coalesce(k.per, i.per) as per, e.starts
            from (select e.lane_id, count(*) as starts from entered as e group by e.lane_id) as e
            join {{.schema}}._gw_lanes as k on k.id = e.lane_id
            join {{.schema}}._gw_limits as i on i.id = k.limit_id) as e
   where l.id = e.id;

  delete from {{.schema}}._gw_fronts as f where f.ctid = any (fronts);
  select array_agg(distinct u.lane)
    into lane_ids
    from {{.schema}}._gw_groups as g
   cross join unnest(g.lanes) as u (lane)
   where g.id = any (group_ids);

  with lane as materialized (
    select r.lane_id, r.room, r.opens_at from {{.schema}}._gw_lane_rooms(lane_ids, claimed_at) as r
  ), put as (
    insert into {{.schema}}._gw_fronts (group_id, barred_by, priority, run_at, job_id)
    select g.id,
           case when n.is_due then
             (select r.lane_id from lane as r where r.lane_id = any (g.lanes) and r.room = 0 order by r.lane_id limit 1)
           end,
           n.priority, n.run_at, n.id
      from {{.schema}}._gw_groups as g
     cross join lateral (
            (select true as is_due, j.priority, j.run_at, j.id
               from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id = g.id and j.run_at <= due and j.ctid <> all (places)
              order by j.priority, j.run_at, j.id
              limit 1)
            union all
            (with recursive priorities (priority) as (
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
             select false, l.priority, l.run_at, l.id
               from priorities as p
              cross join lateral (
                     select j.priority, j.run_at, j.id
                       from {{.schema}}._private_jobs as j
                      where j.is_available and j.job_queue_id = g.id and j.priority = p.priority and j.run_at > due
                      order by j.run_at
                      limit 1) as l
              order by l.run_at
              limit 1)) as n
     where g.id = any (group_ids)
    returning barred_by
  ), opening as (
    insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id)
    select r.lane_id, 0, r.opens_at, 0
      from lane as r
     where r.lane_id in (select p.barred_by from put as p)
       and r.opens_at is not null
       and not exists (select from {{.schema}}._gw_fronts as f where f.lane_id = r.lane_id and f.run_at = r.opens_at)
  )
  select array_agg(r.lane_id)
    into open
    from lane as r
   where r.room is distinct from 0
     and exists (select from {{.schema}}._gw_fronts as f where f.barred_by = r.lane_id);
  if open is not null then
    -- A group that was to use the room of a lane does not; the next one must.
    perform {{.schema}}._gw_look_at_lanes(open);
    perform {{.schema}}._gw_wake(1);
  end if;
end;
$$;

comment on function {{.schema}}._gw_enter_lanes(tid[], integer[], tid[], timestamptz, timestamptz) is
  'Internal, for claims: records which jobs with limits are claimed.';

-- Makes the next claim look at these lanes.
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
  'Internal: makes the next claim look at these lanes.';
