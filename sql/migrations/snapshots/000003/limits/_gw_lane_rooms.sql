-- Returns how many more jobs each of these lanes may start at a time and, if it may start none, why and when that changes
-- (null: at no known time). Claims and why() call it. Only _gw_lock_lone_lanes also compares limits with running jobs, as a short
-- way for claims; a test compares its jobs with those of this one.
-- room: null if nothing limits the lane. reason: dropped, paused, closed, full or rate.
-- Slots in use are those of _gw_slots. starts: how many more jobs of each lane the calling claim has chosen, which count, too.
-- Jobs of a paused task in named queues do not start before resume() has put them back into their queues, because they would
-- not be serial with the jobs there.
-- A claim holds the locks of the lanes, from an earlier statement; other callers need no locks.
create or replace function {{.schema}}._gw_lane_rooms(
  lane_ids integer[],
  at       timestamptz,
  starts   bigint[] default null
)
  returns table (lane_id integer, room integer, opens_at timestamptz, reason text)
  language plpgsql
  stable
  rows 20
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with wanted as materialized (
    select l.id, l.key, l.limit_id, l.theoretic_at, l.closed_until, i.id is null as is_dropped, i.name, p.starts,
           i.is_pause and i.tasks is not null and i.queues is not null as waits,
           coalesce(l.max_running, case when l.is_total then i.total_running else i.max_running end) as width,
           case when not l.is_total then coalesce(l.rate, i.rate) end as rate,
           coalesce(l.per, i.per) as per,
           coalesce(l.burst, i.burst, l.rate, i.rate) as burst
      from unnest(lane_ids, starts) as p (id, starts)
      join {{.schema}}._gw_lanes as l on l.id = p.id
      left join {{.schema}}._gw_limits as i on i.id = l.limit_id
  ), used as (
    select s.lane_id, count(*) as slots
      from {{.schema}}._gw_slots(array(select w.id from wanted as w where w.width is not null)) as s
     group by s.lane_id
  )
  select l.id,
         case when b.reason is not null then 0 else least(f.free, f.budget)::integer end,
         case b.reason when 'paused' then p.until
                       when 'closed' then l.closed_until
                       when 'rate' then l.theoretic_at - {{.schema}}._gw_charge(l.burst - 1, l.rate, l.per) end,
         b.reason
    from wanted as l
    left join used as u on u.lane_id = l.id
   cross join lateral (
          select l.width - coalesce(u.slots, 0) - coalesce(l.starts, 0) as free,
                 case when l.rate is not null then
                   floor(l.burst - greatest(0, extract(epoch from l.theoretic_at - at)) * l.rate / extract(epoch from l.per))
                 end as budget
          offset 0) as f
   cross join lateral (
          select count(*) > 0 as paused, case when bool_and(p.until is not null) then max(p.until) end as until
            from {{.schema}}._gw_pauses as p
           where p.limit_name = l.name and (p.lane is null or p.lane = l.key) and coalesce(p.until, 'infinity') > at) as p
   cross join lateral (
          select case when l.is_dropped then 'dropped'
                      when p.paused or l.waits then 'paused'
                      when l.closed_until > at then 'closed'
                      when f.free < 1 then 'full'
                      when f.budget < 1 then 'rate' end as reason
          offset 0) as b;
end;
$$;

comment on function {{.schema}}._gw_lane_rooms(integer[], timestamptz, bigint[]) is
  'Internal: returns how many more jobs each of these lanes may start and, if none, why and when that changes.';

-- Returns for how long this many starts use up a rate. Rounded up to microseconds, so that the rate is never exceeded.
create or replace function {{.schema}}._gw_charge(
  starts double precision,
  rate   integer,
  per    interval
)
  returns interval
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return make_interval(secs => ceil(starts * extract(epoch from per) * 1000000 / rate) / 1000000);
end;
$$;

comment on function {{.schema}}._gw_charge(double precision, integer, interval) is
  'Internal: returns for how long this many starts use up a rate.';
