-- Returns the jobs that run at each of these gates (null: at all). Stable: a statement that counts by it sees the same
-- jobs in the rest.
create or replace function {{.schema}}._gw_running_at(gate_ids integer[])
  returns table (gate_id integer, job_id bigint) language plpgsql stable rows 100 set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  return query
  select u.gate_id, r.job_id
    from (select j.job_queue_id as lane_id, j.id as job_id
            from {{.schema}}._private_jobs as j
           where not j.is_available and (j.locked_at is null or j.job_queue_id < 0)
             and case when j.locked_at is not null then j.job_queue_id else 0 end <= -16 -- for the index
          union all
          select q.lane_id, q.job_id
            from {{.schema}}._gw_queued_lanes as q
           where exists (select from {{.schema}}._private_jobs as j where j.id = q.job_id and j.locked_at is not null offset 0)) as r
   cross join lateral (select l.gates from {{.schema}}._gw_lanes as l where l.id = r.lane_id offset 0) as l
   cross join unnest(l.gates) as u (gate_id)
   where _gw_running_at.gate_ids is null or u.gate_id = any (_gw_running_at.gate_ids);
end;
$$;
