-- Returns the slots of lanes that are in use: the jobs that run in them, and those that strict limits keep after a recovery. A
-- running job is its own slot: nothing takes or frees slots, so none can be lost, whoever changes or deletes the job. Claims
-- count the rows, while they hold the locks of the lanes, from an earlier statement.
-- The jobs of a streak use as many slots as run at once (see _gw_streaks); of those that are left, the first by id stand for them.
-- The jobs of each group of a lane are found by the index of running jobs. For a lane with many groups all running jobs with
-- limits are read, which are fewer.
create or replace function {{.schema}}._gw_slots(
  lane_ids integer[]
)
  returns table (lane_id integer, job_id bigint, kept_until timestamptz)
  language plpgsql
  stable
  rows 50
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
#variable_conflict use_column
declare
  most_groups constant integer := 100; -- of a lane, to be read one by one
begin
  return query
  select k.lane_id, k.job_id, k.kept_until
    from {{.schema}}._gw_kept_slots as k
   where k.lane_id = any (lane_ids) and k.kept_until > clock_timestamp();
  if not exists (select from {{.schema}}._gw_streaks)
     and not exists (select from unnest(lane_ids) as u (id)
                      where exists (select from {{.schema}}._gw_group_lanes as g where g.lane_id = u.id offset most_groups)) then
    return query
    select u.id, j.id, null::timestamptz
      from unnest(lane_ids) as u (id)
     cross join lateral (select g.group_id from {{.schema}}._gw_group_lanes as g where g.lane_id = u.id offset 0) as g
     cross join lateral (
            select j.id
              from {{.schema}}._private_jobs as j
             where not j.is_available and j.job_queue_id < 0
               and case when j.locked_at is not null then j.job_queue_id else 0 end = g.group_id
            offset 0) as j;
    return;
  end if;
  return query
  with lanes as materialized (
    select u.lane_id, g.ids
      from unnest(lane_ids) as u (lane_id)
     cross join lateral (
            select array_agg(g.group_id) as ids
              from (select g.group_id from {{.schema}}._gw_group_lanes as g where g.lane_id = u.lane_id limit most_groups + 1) as g) as g
  )
  select l.lane_id, j.id, null::timestamptz
    from lanes as l
   cross join unnest(l.ids) as g (id)
   cross join lateral (select (select exists (select from {{.schema}}._gw_streaks))
                             and exists (select from {{.schema}}._gw_streaks as s where s.group_id = g.id) as streaks offset 0) as h
   cross join lateral (
          select j.id
            from {{.schema}}._private_jobs as j
           where not h.streaks and not j.is_available and j.job_queue_id < 0
             and case when j.locked_at is not null then j.job_queue_id else 0 end = g.id
          union all
          select unnest(n.ids[:coalesce(s.width, cardinality(n.ids))])
            from (select j.locked_at, j.locked_by, array_agg(j.id) as ids
                    from {{.schema}}._private_jobs as j
                   where h.streaks and not j.is_available and j.job_queue_id < 0
                     and case when j.locked_at is not null then j.job_queue_id else 0 end = g.id
                   group by j.locked_at, j.locked_by) as n
            left join {{.schema}}._gw_streaks as s on s.group_id = g.id and s.locked_at = n.locked_at and s.locked_by = n.locked_by
          offset 0) as j
   where cardinality(l.ids) <= most_groups
  union all
  select w.lane_id, j.id, null
    from (select unnest(n.ids[:coalesce(s.width, cardinality(n.ids))]) as id, n.job_queue_id
            from (select j.job_queue_id, j.locked_at, j.locked_by, array_agg(j.id) as ids
                    from {{.schema}}._private_jobs as j
                   where not j.is_available and j.job_queue_id < 0
                     and case when j.locked_at is not null then j.job_queue_id else 0 end < 0
                     and (select bool_or(cardinality(l.ids) > most_groups) from lanes as l)
                   group by j.job_queue_id, j.locked_at, j.locked_by) as n
            left join {{.schema}}._gw_streaks as s
              on s.group_id = n.job_queue_id and s.locked_at = n.locked_at and s.locked_by = n.locked_by
          offset 0) as j
   cross join lateral (
          select g.lane_id from {{.schema}}._gw_groups as o cross join unnest(o.lanes) as g (lane_id) where o.id = j.job_queue_id
          offset 0) as w
   where w.lane_id in (select l.lane_id from lanes as l where cardinality(l.ids) > most_groups);
end;
$$;

comment on function {{.schema}}._gw_slots(integer[]) is
  'Internal: returns the slots of these lanes that are in use.';
