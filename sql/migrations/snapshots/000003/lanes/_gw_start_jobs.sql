-- Starts the chosen jobs of a claim, and puts the others into their lanes; see _gw_choose_jobs. Rows that have changed
-- since they were read, or that another transaction has locked, stay as they are. The payloads of the jobs that start
-- have at most claim.max_bytes together, but there is at least one. lane_ids: further lanes that have another first
-- job, or full gates. ids: the jobs that have started. gate_ids: the gates that they have passed, and those for which
-- the lanes wait now. The caller holds the limits, and the queues of the jobs.
-- Locks: jobs, without waiting; rows of gates, lanes and queues, which the caller holds.
create or replace function {{.schema}}._gw_start_jobs(
  claim {{.schema}}._gw_claim, chosen {{.schema}}._gw_candidate[], lane_ids integer[], out ids bigint[], out gate_ids integer[])
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  places tid[]; -- of the jobs that start
begin
  with locked as materialized (
    select u.*
      from unnest(chosen) as u
     cross join lateral (
            select from {{.schema}}._private_jobs as j
             where j.ctid = u.place and j.xmin = u.version and j.id = u.job_id and j.is_available
               for update skip locked) as j
  )
  select array_agg(row(l.*)::{{.schema}}._gw_candidate), array_agg(l.place) filter (where l.starts) into chosen, places
    from locked as l;
  if claim.batch_size > 1 then
    places := {{.schema}}._gw_within_bytes(places, claim.max_bytes);
    chosen := array(select row(u.*)::{{.schema}}._gw_candidate from unnest(chosen) as u where not u.starts or u.place = any (places));
  end if;

  with placed as (
    update {{.schema}}._private_jobs as j
       set attempts     = j.attempts + u.starts::integer,
           locked_by    = case when u.starts then claim.worker_id else j.locked_by end,
           locked_at    = case when u.starts then claim.claimed_at end,
           job_queue_id = coalesce(u.queue_id, u.lane_id)
      from unnest(chosen) as u
     where j.ctid = u.place
    returning j.id, u.starts
  )
  select array_agg(p.id) filter (where p.starts) into ids from placed as p;
  if exists (select from unnest(chosen) as u where u.queue_id is not null) then
    insert into {{.schema}}._gw_queued_lanes as q (job_id, lane_id)
    select u.job_id, u.lane_id from unnest(chosen) as u where u.starts and u.queue_id is not null and u.lane_id is not null
        on conflict on constraint _gw_queued_lanes_pkey do update set lane_id = excluded.lane_id;
    update {{.schema}}._private_job_queues as q
       set locked_by = claim.worker_id, locked_at = claim.claimed_at
     where q.id = any (array(select u.queue_id from unnest(chosen) as u where u.starts and u.queue_id is not null));
  end if;
  gate_ids := {{.schema}}._gw_count_at_gates(array(
    select row(g.id, count(*), count(*), null, claim.claimed_at)::{{.schema}}._gw_gate_change
      from unnest(chosen) as u
     cross join unnest(u.gates) as g (id)
     where u.starts
     group by g.id));
  gate_ids := gate_ids || {{.schema}}._gw_place_lanes(
    lane_ids || array(select u.lane_id from unnest(chosen) as u where not (u.starts and u.is_incoming) and u.queue_id is null),
    claim.claimed_at);
  perform {{.schema}}._gw_set_turns(gate_ids); -- of other lanes that have these gates
end;
$$;

comment on function {{.schema}}._gw_start_jobs({{.schema}}._gw_claim, {{.schema}}._gw_candidate[], integer[]) is 'Internal: starts the chosen jobs of a claim, and puts the others into their lanes; see _gw_choose_jobs.';

-- Gives lanes that have another first job, or whose gates are full, their new places and turns, and makes them wait for
-- a gate that is full. Returns the gates for which they wait. The turn is in the same update, because each one writes
-- all indexes of the lane. The caller holds the limits.
create or replace function {{.schema}}._gw_place_lanes(lane_ids integer[], at timestamptz)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  gate_ids integer[];
begin
  if lane_ids = '{}' then
    return null;
  end if;
  with new as materialized (
    select l.ctid, f.priority, f.run_at, f.id, coalesce(g.running, 0) as running, coalesce(g.served_at, l.served_at) as served_at,
           case when f.id is null then 0
                else (select min(r.gate_id) from {{.schema}}._gw_gate_rooms(l.gates, _gw_place_lanes.at) as r where r.room = 0) end as gate
      from (select distinct u.id from unnest(lane_ids) as u (id)) as u
     cross join lateral (select l.ctid, l.* from {{.schema}}._gw_lanes as l where l.id = u.id offset 0) as l
      left join lateral (select g.running, g.served_at from {{.schema}}._gw_gates as g where g.id = l.fair_gate offset 0) as g on true
      left join lateral (
            select j.priority, j.run_at, j.id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = u.id
             order by j.priority, j.run_at, j.id
             limit 1) as f on true
  ), placed as (
    update {{.schema}}._gw_lanes as l
       set gate = n.gate, priority = n.priority, run_at = n.run_at, job_id = n.id, running = n.running, served_at = n.served_at
      from new as n
     where l.ctid = n.ctid
       and (l.gate, l.priority, l.run_at, l.job_id, l.running, l.served_at)
           is distinct from (n.gate, n.priority, n.run_at, n.id, n.running, n.served_at)
  )
  select array_agg(distinct n.gate) into gate_ids from new as n where n.gate > 0;
  return gate_ids;
end;
$$;

comment on function {{.schema}}._gw_place_lanes(integer[], timestamptz) is 'Internal: gives lanes that have another first job, or whose gates are full, their new places and turns, and makes them wait for a gate that is full.';
