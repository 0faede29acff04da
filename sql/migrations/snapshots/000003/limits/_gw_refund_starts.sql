-- Returns the starts of these jobs, which were claimed but not started, to the rates of their lanes. The jobs are still in their
-- groups. Without one of these starts, a lane would have been free at free_at. The time since then is not returned: if
-- other jobs have started in that time, more jobs could start in a short time than rate and burst allow.
-- Locks: lanes by id; claims hold them briefly. Starts, without waiting.
create or replace function {{.schema}}._gw_refund_starts(
  job_ids bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  lane_ids integer[] := array(
    select distinct l.id
      from {{.schema}}._private_jobs as j
      join {{.schema}}._gw_groups as g on g.id = j.job_queue_id
     cross join unnest(g.lanes) as u (lane)
      join {{.schema}}._gw_lanes as l on l.id = u.lane and not l.is_total
     where j.id = any (_gw_refund_starts.job_ids)
       and exists (select from {{.schema}}._gw_starts as s where s.lane_id = l.id));
begin
  if lane_ids = '{}' then
    return;
  end if;
  perform from {{.schema}}._gw_lanes as l where l.id = any (lane_ids) order by l.id for no key update;
  with started as (
    select distinct on (s.lane_id, u.job_id) s.lane_id, s.free_at
      from {{.schema}}._gw_starts as s
     cross join unnest(s.job_ids) as u (job_id)
     where s.lane_id = any (lane_ids) and u.job_id = any (_gw_refund_starts.job_ids)
     order by s.lane_id, u.job_id, s.free_at desc
  ), refund as (
    select k.id, k.rate, k.per,
           greatest(interval '0', {{.schema}}._gw_charge(k.starts, k.rate, k.per)
                                  - greatest(interval '0', clock_timestamp() - k.free_at)) as back
      from (select l.id, coalesce(l.rate, i.rate) as rate, coalesce(l.per, i.per) as per, count(*) as starts, min(s.free_at) as free_at
              from started as s
              join {{.schema}}._gw_lanes as l on l.id = s.lane_id
              join {{.schema}}._gw_limits as i on i.id = l.limit_id
             where coalesce(l.rate, i.rate) is not null
             group by l.id, i.id) as k
  ), others as (
    update {{.schema}}._gw_starts as s
       set free_at = s.free_at - o.back
      from (select o.ctid as place, r.back
              from refund as r
             cross join lateral (
                    select o.ctid
                      from {{.schema}}._gw_starts as o
                     where o.lane_id = r.id
                       and o.free_at > clock_timestamp() - {{.schema}}._gw_charge(cardinality(o.job_ids), r.rate, r.per) -- not spent
                       for update skip locked) as o
             where r.back > '0') as o
     where s.ctid = o.place
  )
  update {{.schema}}._gw_lanes as l
     set theoretic_at = l.theoretic_at - r.back
    from refund as r
   where l.id = r.id and r.back > '0';
end;
$$;

comment on function {{.schema}}._gw_refund_starts(bigint[]) is
  'Internal: returns the starts of jobs that were claimed but not started to the rates of their lanes.';
