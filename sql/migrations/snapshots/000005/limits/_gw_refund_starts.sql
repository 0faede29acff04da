-- Returns the starts of these jobs, which were claimed but not started, to the rates of their lanes. The jobs still have
-- their slots. Without one of these starts, a lane would have been free at free_at. The time since then is not returned: if
-- other jobs have started in that time, more jobs could start in a short time than rate and burst allow.
-- Locks: lanes by id; claims hold them briefly. Slots, without waiting.
create or replace function {{.schema}}._gw_refund_starts(
  job_ids bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
begin
  perform from {{.schema}}._gw_lanes as l
    where l.id = any (array(select s.lane_id from {{.schema}}._gw_slots as s where s.job_id = any (job_ids)))
    order by l.id for no key update;
  with refund as (
    select k.id,
           greatest(interval '0', {{.schema}}._gw_charge(count(*), coalesce(k.rate, i.rate), coalesce(k.per, i.per))
                                  - greatest(interval '0', clock_timestamp() - min(s.free_at))) as back
      from {{.schema}}._gw_slots as s
      join {{.schema}}._gw_lanes as k on k.id = s.lane_id and not k.is_total
      join {{.schema}}._gw_limits as i on i.id = k.limit_id
     where s.job_id = any (job_ids) and coalesce(k.rate, i.rate) is not null
     group by k.id, i.id
  ), others as (
    update {{.schema}}._gw_slots as s
       set free_at = s.free_at - r.back
      from refund as r
     where s.ctid = any (array(select o.ctid
                                 from {{.schema}}._gw_slots as o
                                where o.lane_id = r.id and o.job_id <> all (job_ids)
                                  for update skip locked))
  )
  update {{.schema}}._gw_lanes as l
     set theoretic_at = l.theoretic_at - r.back
    from refund as r
   where l.id = r.id;
end;
$$;

comment on function {{.schema}}._gw_refund_starts(bigint[]) is
  'Internal: returns the starts of jobs that were claimed but not started to the rates of their lanes.';
