-- For heartbeats: deletes unused lanes and their groups, at most once a minute. The function reads up to most lanes, from a
-- random one on, and deletes those lanes of one limit that have no job, no slot and no numbers of their own, have started no
-- job for an hour, and would start a job now. Returns the number of deleted lanes.
-- A producer must not use a deleted lane. So the function deletes only while no open transaction has added jobs of these
-- tasks, and later producers wait until the caller's transaction ends, as with cleanup(). Above READ COMMITTED they get 40001
-- if their snapshot is older.
-- Locks: the row in _gw_turns, the row of limits, name locks and rows of tasks, lanes, groups; all without waiting. The caller
-- must not wait for any lock after that.
create or replace function {{.schema}}._gw_drop_idle_lanes(
  most integer default 1000
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set jit = off
as $$
declare
  idle_since timestamptz := clock_timestamp() - interval '1 hour';
  chosen     record; -- the limit
  lane_ids   integer[];
  group_ids  integer[];
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  perform from {{.schema}}._gw_turns as t
    where t.name = 'idle_lanes' and t.last_at <= clock_timestamp() - interval '1 minute'
      for update skip locked;
  if not found then
    return 0;
  end if;
  update {{.schema}}._gw_turns as t set last_at = clock_timestamp() where t.name = 'idle_lanes';

  with first as materialized (
    select min(l.id) + floor(random() * (max(l.id) - min(l.id) + 1))::integer as id from {{.schema}}._gw_lanes as l
  ), seen as materialized (
    (select l.* from {{.schema}}._gw_lanes as l where l.id >= (select f.id from first as f) order by l.id limit most)
    union all
    (select l.* from {{.schema}}._gw_lanes as l where l.id < (select f.id from first as f) order by l.id limit most)
     limit most
  )
  select i.id, i.tasks, array_agg(s.id) as lane_ids
    into chosen
    from seen as s
    join {{.schema}}._gw_limits as i on i.id = s.limit_id
   where {{.schema}}._gw_is_idle(s.key, s.max_running, s.rate, s.theoretic_at, s.closed_until, s.served_at, idle_since)
     and not exists (select from {{.schema}}._gw_slots(array[s.id]) offset 0)
   group by i.id
   order by count(*) desc
   limit 1;
  if not found then
    return 0;
  end if;
  perform from {{.schema}}._gw_limit_changes as c for update skip locked;
  if not found or exists (select from {{.schema}}._gw_moves) or not {{.schema}}._gw_no_producers(chosen.tasks) then
    return 0;
  end if;
  lane_ids := array(
    select l.id
      from {{.schema}}._gw_lanes as l
     where l.id = any (chosen.lane_ids)
       and {{.schema}}._gw_is_idle(l.key, l.max_running, l.rate, l.theoretic_at, l.closed_until, l.served_at, idle_since)
     order by l.id
       for update skip locked);
  -- Separate statements, which see what the last holders of these locks have committed.
  lane_ids := array(
    select u.id from unnest(lane_ids) as u (id)
    except
    select s.lane_id from {{.schema}}._gw_slots(lane_ids) as s);
  group_ids := array(
    select g.id
      from {{.schema}}._gw_groups as g
     where g.id in (select o.group_id from {{.schema}}._gw_group_lanes as o where o.lane_id = any (lane_ids))
       and not exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = g.id offset 0)
     order by g.id
       for update skip locked);
  group_ids := array(
    select u.id from unnest(group_ids) as u (id)
    except
    select j.job_queue_id from {{.schema}}._private_jobs as j where j.locked_at is null and not j.is_available); -- failed ones
  lane_ids := array(
    select u.id from unnest(lane_ids) as u (id)
    except
    select g.lane_id from {{.schema}}._gw_group_lanes as g where g.lane_id = any (lane_ids) and g.group_id <> all (group_ids));
  update {{.schema}}._gw_limit_changes as c set changed_at = clock_timestamp() where lane_ids <> '{}';
  delete from {{.schema}}._gw_fronts as f where f.group_id = any (group_ids);
  delete from {{.schema}}._gw_fronts as f where f.lane_id = any (lane_ids);
  delete from {{.schema}}._gw_group_lanes as g where g.group_id = any (group_ids) or g.lane_id = any (lane_ids);
  delete from {{.schema}}._gw_starts as s where s.lane_id = any (lane_ids);
  delete from {{.schema}}._gw_groups as g where g.id = any (group_ids);
  delete from {{.schema}}._gw_lanes as l where l.id = any (lane_ids);
  return cardinality(lane_ids);
end;
$$;

comment on function {{.schema}}._gw_drop_idle_lanes(integer) is
  'Internal, for heartbeats: deletes lanes that have had no jobs for an hour, and returns how many.';

-- Returns whether a lane with these values has been idle since a time, and can be deleted without effect.
create or replace function {{.schema}}._gw_is_idle(
  key          text,
  max_running  integer,
  rate         integer,
  theoretic_at timestamptz,
  closed_until timestamptz,
  served_at    timestamptz,
  since        timestamptz
)
  returns boolean
  language sql
  immutable
as $$
  select key is not null and max_running is null and rate is null
         and theoretic_at operator(pg_catalog.<) since and closed_until operator(pg_catalog.<) since
         and (served_at operator(pg_catalog.>=) since) is not true
$$;

comment on function {{.schema}}._gw_is_idle(text, integer, integer, timestamptz, timestamptz, timestamptz, timestamptz) is
  'Internal: returns whether a lane has been idle since a time, and can be deleted without effect.';

-- Returns whether served_at of a lane is exact enough: without a fair limit or a rate it only tells which lanes are idle, so a claim
-- need not write it each time. The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_served_of_late(
  served_at timestamptz,
  at        timestamptz
)
  returns boolean
  language sql
  stable
as $$
  select (served_at operator(pg_catalog.>) (at operator(pg_catalog.-) interval '10 minutes')) is true
$$;

comment on function {{.schema}}._gw_served_of_late(timestamptz, timestamptz) is
  'Internal: returns whether the time at which a lane was served is exact enough.';
