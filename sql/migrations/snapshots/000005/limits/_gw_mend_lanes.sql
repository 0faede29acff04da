-- For heartbeats: cleans up after jobs and pauses that have ended without a call. The function deletes slots whose jobs no
-- longer run, and makes claims read their lanes: rows may be deleted by hand, and by Graphile Worker's functions. It removes
-- pauses that have ended, and deletes unused lanes. Groups whose first job was changed by hand, so that it comes before all their
-- fronts, get a front for it.
-- If a group is due and no worker takes its jobs, for example because no worker has their tasks, claims read the groups again
-- that wait for the same lanes.
-- Locks: slots, skipping locked ones; for pauses what resume locks; then what _gw_drop_idle_lanes locks.
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
  with gone as (
    delete from {{.schema}}._gw_slots as s
     where s.ctid = any (array(select l.ctid
                                 from {{.schema}}._gw_slots as l
                                where (select j.locked_at = l.locked_at from {{.schema}}._private_jobs as j where j.id = l.job_id) is not true
                                  and coalesce(l.kept_until, '-infinity') <= clock_timestamp()
                                  for update skip locked))
    returning s.lane_id
  )
  select array_agg(distinct g.lane_id) into lane_ids from gone as g;
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
  'Internal, for heartbeats: frees slots whose jobs no longer run, removes pauses that have ended, and deletes idle lanes.';

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
