-- Starts the chosen jobs of a claim, and puts the others into their lanes; see _gw_choose_jobs. Rows that have changed since they were read,
-- or that another transaction has locked, stay as they are. The payloads of the jobs that start have at most claim.max_bytes together, but
-- there is at least one. lane_ids: further lanes that have another first job, or full gates. ids: the jobs that have started. gate_ids: the
-- gates that they have passed, and those for which the lanes wait now.
-- The caller holds the limits, and the queues of the jobs.
-- Locks: jobs, without waiting; rows of gates, lanes and queues, which the caller holds.
create or replace function {{.schema}}._gw_start_jobs(
  claim {{.schema}}._gw_claim, chosen {{.schema}}._gw_candidate[], lane_ids integer[], out ids bigint[],
  out gate_ids integer[])
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  places tid[];
begin
  with locked as materialized (
    select u.*
      from unnest(chosen) as u
     cross join lateral (
            select from {{.schema}}._private_jobs as j
             where j.ctid = u.place and j.xmin = u.version and j.id = u.job_id and j.is_available
               for update skip locked) as j
  )
  select array_agg(row(l.*)::{{.schema}}._gw_candidate), array_agg(l.place) filter (where l.starts)
    into chosen, places
    from locked as l;
  if claim.batch_size > 1 then
    places := {{.schema}}._gw_within_bytes(places, claim.max_bytes);
  end if;

  with parked as (
    update {{.schema}}._private_jobs as j
       set job_queue_id = u.lane_id
      from unnest(chosen) as u
     where j.ctid = u.place and not u.starts
  ), started as (
    update {{.schema}}._private_jobs as j
       set attempts     = j.attempts + 1,
           locked_by    = claim.worker_id,
           locked_at    = claim.claimed_at,
           job_queue_id = coalesce(u.queue_id, u.lane_id)
      from unnest(chosen) as u
     where j.ctid = u.place and u.starts and u.place = any (places)
    returning j.id, u.queue_id, u.lane_id, u.gates
  ), queued as (
    insert into {{.schema}}._gw_queued_lanes as q (job_id, lane_id)
    select s.id, s.lane_id from started as s where s.queue_id is not null and s.lane_id is not null
        on conflict on constraint _gw_queued_lanes_pkey do update set lane_id = excluded.lane_id
  ), taken as (
    update {{.schema}}._private_job_queues as q
       set locked_by = claim.worker_id, locked_at = claim.claimed_at
      from started as s
     where q.id = s.queue_id
  ), passed as (
    update {{.schema}}._gw_gates as g
       set running      = g.running + p.jobs,
           served_at    = claim.claimed_at,
           theoretic_at = coalesce(greatest(g.theoretic_at, claim.claimed_at) + {{.schema}}._gw_charge(p.jobs, p.rate, p.per), g.theoretic_at)
      from (select n.id, n.jobs, coalesce(g.rate, l.rate) as rate, coalesce(g.per, l.per) as per
              from (select k.id, count(*)::integer as jobs from started as s cross join unnest(s.gates) as k (id) group by k.id) as n
              join {{.schema}}._gw_gates as g on g.id = n.id
              join {{.schema}}._gw_limits as l on l.id = g.limit_id) as p
     where g.id = p.id
    returning g.id
  )
  select (select array_agg(s.id) from started as s), (select array_agg(p.id) from passed as p) into ids, gate_ids;
  perform {{.schema}}._gw_set_turns(gate_ids) where gate_ids is not null;
  gate_ids := gate_ids || {{.schema}}._gw_place_lanes(
    lane_ids || array(select u.lane_id from unnest(chosen) as u where not (u.starts and u.is_incoming) and u.queue_id is null),
    claim.claimed_at);
end;
$$;

comment on function {{.schema}}._gw_start_jobs({{.schema}}._gw_claim, {{.schema}}._gw_candidate[], integer[]) is
  'Internal, for claims: starts the chosen jobs, and puts the others into their lanes.';

-- Gives lanes that have another first job, or whose gates are full, their new places, and makes them wait for a gate that is full. Returns
-- the gates for which they wait. The caller holds the limits.
create or replace function {{.schema}}._gw_place_lanes(lane_ids integer[], at timestamptz)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  gate_ids integer[];
begin
  if lane_ids = '{}' then
    return null;
  end if;
  with placed as (
    update {{.schema}}._gw_lanes as l
       set gate     = case when n.id is null then 0
                           else (select min(r.gate_id) from {{.schema}}._gw_gate_rooms(n.gates, _gw_place_lanes.at) as r where r.room = 0) end,
           priority = n.priority,
           run_at   = n.run_at,
           job_id   = n.id
      from (select w.id as lane_id, w.gates, f.*
              from (select distinct u.id from unnest(lane_ids) as u (id)) as d
             cross join lateral (select w.id, w.gates from {{.schema}}._gw_lanes as w where w.id = d.id offset 0) as w
              left join lateral (
                    select j.priority, j.run_at, j.id
                      from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id = d.id
                     order by j.priority, j.run_at, j.id
                     limit 1) as f on true) as n
     where l.id = n.lane_id
    returning l.gate
  )
  select array_agg(distinct p.gate) into gate_ids from placed as p where p.gate > 0;
  return gate_ids;
end;
$$;

comment on function {{.schema}}._gw_place_lanes(integer[], timestamptz) is
  'Internal: gives lanes their new places, and makes them wait for a gate that is full. Returns these gates.';
