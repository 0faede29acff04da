-- Returns how many more jobs each of these lanes may start at a time and, if it may start none, why and when that changes
-- (null: at no known time). This is the only function that compares limits with running jobs: claims and why() call it.
-- room: null if nothing limits the lane. reason: dropped, paused, closed, full or rate.
-- A slot counts while its job has the locked_at of the slot, so slots need not be freed. Slots with locked_at = at belong to
-- the calling claim, which is about to update their jobs. Slots of recovered jobs count until kept_until.
-- Jobs of a paused task in named queues do not start before resume() has put them back into their queues, because they would
-- not be serial with the jobs there.
-- A claim holds the locks of the lanes, from an earlier statement; other callers need no locks.
create or replace function {{.schema}}._gw_lane_rooms(
  lane_ids integer[],
  at       timestamptz
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
begin
  return query
  select l.id,
         case when b.reason is not null then 0 else least(b.free, b.budget)::integer end,
         case b.reason when 'paused' then b.paused_until
                       when 'closed' then l.closed_until
                       when 'rate' then l.theoretic_at - {{.schema}}._gw_charge(b.burst - 1, b.rate, b.per) end,
         b.reason
    from {{.schema}}._gw_lanes as l
    left join {{.schema}}._gw_limits as i on i.id = l.limit_id
   cross join lateral (
          select coalesce(l.max_running, case when l.is_total then i.total_running else i.max_running end) as width,
                 case when not l.is_total then coalesce(l.rate, i.rate) end as rate,
                 coalesce(l.per, i.per) as per,
                 coalesce(l.burst, i.burst, l.rate, i.rate) as burst) as n
   cross join lateral (
          select n.rate, n.per, n.burst,
                 case when n.width is not null then
                   n.width - (select count(*)
                                from {{.schema}}._gw_slots as s
                               where s.lane_id = l.id
                                 and (s.locked_at = at or s.kept_until > at
                                      or (select j.locked_at = s.locked_at from {{.schema}}._private_jobs as j where j.id = s.job_id)))
                 end as free,
                 case when n.rate is not null then
                   floor(n.burst - greatest(0, extract(epoch from l.theoretic_at - at)) * n.rate / extract(epoch from n.per))
                 end as budget) as f
   cross join lateral (
          select count(*) > 0 as paused, case when bool_and(p.until is not null) then max(p.until) end as until
            from {{.schema}}._gw_pauses as p
           where p.limit_name = i.name and (p.lane is null or p.lane = l.key) and coalesce(p.until, 'infinity') > at) as p
   cross join lateral (
          select f.free, f.budget, f.rate, f.per, f.burst, p.until as paused_until,
                 case when i.id is null then 'dropped'
                      when p.paused or i.is_pause and i.tasks is not null and i.queues is not null then 'paused'
                      when l.closed_until > at then 'closed'
                      when f.free < 1 then 'full'
                      when f.budget < 1 then 'rate' end as reason) as b
   where l.id = any (lane_ids);
end;
$$;

comment on function {{.schema}}._gw_lane_rooms(integer[], timestamptz) is
  'Internal: returns how many more jobs each of these lanes may start and, if none, why and when that changes.';

-- Returns for how long this many starts use up a rate. Rounded up to microseconds, so that the rate is never exceeded.
create or replace function {{.schema}}._gw_charge(
  starts double precision,
  rate   integer,
  per    interval
)
  returns interval
  language sql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
  select make_interval(secs => ceil(starts * extract(epoch from per) * 1000000 / rate) / 1000000)
$$;

comment on function {{.schema}}._gw_charge(double precision, integer, interval) is
  'Internal: returns for how long this many starts use up a rate.';
