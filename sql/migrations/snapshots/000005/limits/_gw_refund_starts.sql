-- Gives back what these jobs, which were claimed but not started, have used of rates. The jobs still have their slots.
-- Locks: lanes by id; claims hold them briefly.
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
  update {{.schema}}._gw_lanes as l
     set theoretic_at = l.theoretic_at - {{.schema}}._gw_charge(r.starts, r.rate, r.per)
    from (select k.id, coalesce(k.rate, i.rate) as rate, coalesce(k.per, i.per) as per, count(*) as starts
            from {{.schema}}._gw_slots as s
            join {{.schema}}._gw_lanes as k on k.id = s.lane_id and not k.is_total
            join {{.schema}}._gw_limits as i on i.id = k.limit_id
           where s.job_id = any (job_ids)
           group by k.id, i.id) as r
   where l.id = r.id and r.rate is not null;
end;
$$;

comment on function {{.schema}}._gw_refund_starts(bigint[]) is
  'Internal: gives back what jobs that were not started have used of rates.';
