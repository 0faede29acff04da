-- The jobs that a claim looks at while limits apply. All these functions read without locks. They pass over rows that
-- another transaction is changing; see _gw_may_lock.

-- Returns the first incoming jobs of each of these tasks. A job whose lane has jobs before it, or that is to take its
-- turn, parks: it goes into its lane first. A task of which all jobs share their gates needs no more of them than these
-- have room. Incoming jobs of a task without limits are plain.
create or replace function {{.schema}}._gw_incoming_candidates(
  claim {{.schema}}._gw_claim, tasks {{.schema}}._gw_limited_task[], wide integer)
  returns {{.schema}}._gw_candidate[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  snapshot txid_snapshot := txid_current_snapshot();
begin
  return array(
    select row(j.priority, j.run_at, 0, j.id, j.place, j.version, null,
               case when t.limit_ids <> '{}' then coalesce(l.lane_id, 0) end, l.gates, true, t.by_key,
               o.takes_turns or t.by_key
                                and coalesce(l.gate is distinct from 0 and (l.priority, l.run_at, l.job_id) <= (j.priority, j.run_at, j.id), false),
               case when o.takes_turns then false end)::{{.schema}}._gw_candidate
      from unnest(tasks) as t
     cross join lateral {{.schema}}._gw_shared_room(t.limit_ids, claim.claimed_at) as shared
     cross join lateral {{.schema}}._gw_lane_of(row(t.*)::{{.schema}}._gw_limited_task, null, null) as s
     cross join lateral (
            select j.ctid as place, j.xmin as version, j.id, j.priority, j.run_at, j.payload, j.flags
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = -1 and j.task_id = t.task_id
               and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, null, claim.forbidden_flags, claim.task_flags)
               and {{.schema}}._gw_may_lock(j.xmax, snapshot)
             order by j.priority, j.run_at, j.id
             limit case when t.is_fair then greatest(wide, 300)
                        when shared.room = 0 then 0
                        when t.by_key then greatest(wide, 50)
                        else least(wide, shared.room) end) as j
     cross join lateral (
            select s.* where not t.by_key
            union all
            select l.* from {{.schema}}._gw_lane_of(row(t.*)::{{.schema}}._gw_limited_task, j.payload, j.flags) as l where t.by_key) as l
     cross join lateral (select l.lane_id is not null and l.fair_gate is not null as takes_turns) as o);
end;
$$;

-- Returns the first jobs of the open lanes of these tasks, of each lane as many as its gates have room, or, if it has
-- none or all are locked, a row without a job. A job that passes other gates than its lane, because somebody has
-- changed its payload, parks with -1: it becomes incoming. A lane of a fair limit comes where its first job does, but behind each lane of the limit that
-- has room and fewer running jobs. Of each of these about as many jobs are read as it needs until all have equally many
-- running.
create or replace function {{.schema}}._gw_lane_candidates(
  claim {{.schema}}._gw_claim, tasks {{.schema}}._gw_limited_task[], most integer, wide integer)
  returns {{.schema}}._gw_candidate[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  snapshot txid_snapshot := txid_current_snapshot();
begin
  return array(
    with lanes as materialized (
      select l.*,
             case when l.fair_limit is null then most
                  else greatest(ceil(min((most + l.ran)::double precision / l.number) over (partition by l.fair_limit))::integer - l.running, 0) + 2
             end as deep
        from (select t.limit_ids, l.*, sum(l.running) over fewest as ran, row_number() over fewest as number
                from unnest(tasks) as t
               cross join lateral (
                      select l.id, l.gates, l.running, l.served_at, l.priority, l.run_at, l.job_id,
                             (select g.limit_id from {{.schema}}._gw_gates as g where g.id = l.fair_gate) as fair_limit
                        from {{.schema}}._gw_lanes as l
                       where l.task_id = t.task_id and l.gate is null and l.generation = t.generation
                       order by l.priority, l.running, l.served_at, l.run_at, l.job_id
                       limit greatest(wide, 20)) as l
              window fewest as (partition by l.fair_limit order by l.running, l.id rows unbounded preceding)) as l
    ), jobs as materialized (
      select l.id as lane_id, l.gates, l.served_at, l.running + coalesce(j.number, 0) as running, l.limit_ids, l.fair_limit,
             (r.room = 0) is true as is_full, j.place, j.version, j.id, j.payload, j.flags,
             coalesce(j.priority, l.priority) as priority, coalesce(j.run_at, l.run_at) as run_at
        from lanes as l
       cross join lateral (select min(r.room) as room from {{.schema}}._gw_gate_rooms(l.gates, claim.claimed_at) as r) as r
        left join lateral (
              select j.*, row_number() over (order by j.priority, j.run_at, j.id) as number
                from (select j.ctid as place, j.xmin as version, j.priority, j.run_at, j.id, j.payload, j.flags
                        from {{.schema}}._private_jobs as j
                       where j.is_available and j.job_queue_id = l.id and (j.priority, j.run_at, j.id) >= (l.priority, l.run_at, l.job_id)
                         and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, null, claim.forbidden_flags, claim.task_flags)
                         and {{.schema}}._gw_may_lock(j.xmax, snapshot)
                       order by j.priority, j.run_at, j.id
                       limit least(l.deep, case when r.room = 0 then 1 else r.room end)) as j) as j on true
       where j.id is not null
          or (select bool_or({{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, null, claim.forbidden_flags, claim.task_flags))
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id = l.id) is not false -- somebody has locked one, or there is none
    ), first as (
      select j.*, case when j.fair_limit is null then j.run_at else max(j.run_at) over before end as comes_at,
             case when j.fair_limit is null then 0 else row_number() over before end as turn
        from jobs as j
      window before as (partition by j.fair_limit, j.is_full, j.priority order by j.running, j.served_at, j.run_at, j.id rows unbounded preceding)
       order by j.priority, comes_at, turn, j.id
       limit most + 50
    )
    select row(j.priority, j.comes_at, j.turn, j.id, j.place, j.version, null, case when c.is_changed then -1 else j.lane_id end, j.gates,
               false, true, c.is_changed, null)::{{.schema}}._gw_candidate
      from first as j
     cross join lateral (
            select j.gates <> coalesce(array_agg(g.gate_id order by g.gate_id), '{}') and j.id is not null as is_changed
              from {{.schema}}._gw_gates_of(j.limit_ids, j.payload, j.flags) as g
            offset 0) as c);
end;
$$;

-- Returns the first jobs of these named queues. If the first job is of a limited task of which the claim does not hold
-- all limits, its queue waits.
create or replace function {{.schema}}._gw_queue_candidates(
  claim {{.schema}}._gw_claim, tasks {{.schema}}._gw_limited_task[], limited integer[], queue_ids integer[])
  returns {{.schema}}._gw_candidate[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  return array(
    select row(j.priority, j.run_at, 0, j.id, j.place, j.version, q.id,
               case when t.limit_ids <> '{}' then coalesce(l.lane_id, 0) end, l.gates, false, false, false, null)::{{.schema}}._gw_candidate
      from unnest(queue_ids) as q (id)
     cross join lateral {{.schema}}._gw_first_in_queue(q.id, claim, 1) as j
      left join unnest(tasks) as t on t.task_id = j.task_id
      left join lateral {{.schema}}._gw_lane_of(row(t.*)::{{.schema}}._gw_limited_task, j.payload, j.flags) as l on t.limit_ids <> '{}'
     where t.task_id is not null or j.task_id <> all (limited));
end;
$$;

-- Returns the first plain jobs. Those of limited tasks, which were added before their task had a limit or by somebody
-- who does not know of it, become incoming; came says whether there were any.
-- Locks: the jobs that become incoming, without waiting.
create or replace function {{.schema}}._gw_plain_candidates(
  claim {{.schema}}._gw_claim, limited integer[], wide integer, out plain {{.schema}}._gw_candidate[], out came boolean)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  snapshot txid_snapshot := txid_current_snapshot();
  places   tid[];
begin
  select array_agg(row(p.priority, p.run_at, 0, p.id, p.place, p.version, null, null, null, false, false, false, null)::{{.schema}}._gw_candidate)
           filter (where p.task_id <> all (limited)),
         array_agg(p.place) filter (where p.task_id = any (limited)) into plain, places
    from (select j.ctid as place, j.xmin as version, j.task_id, j.priority, j.run_at, j.id
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id is null
             and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
             and {{.schema}}._gw_may_lock(j.xmax, snapshot)
           order by j.priority, j.run_at, j.id
           limit wide) as p;
  came := places is not null;
  if came then
    update {{.schema}}._private_jobs as j
       set job_queue_id = -1
     where j.ctid = any (array(select j.ctid
                                 from {{.schema}}._private_jobs as j
                                where j.ctid = any (places) and j.is_available and j.job_queue_id is null and j.task_id = any (limited)
                                  for update skip locked));
  end if;
end;
$$;

-- Returns the jobs that a claim looks at, in the order in which they are to start.
create or replace function {{.schema}}._gw_candidates(
  claim {{.schema}}._gw_claim, tasks {{.schema}}._gw_limited_task[], limited integer[], plain {{.schema}}._gw_candidate[],
  queue_ids integer[], most integer, wide integer)
  returns {{.schema}}._gw_candidate[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  return array(
    select row(c.*)::{{.schema}}._gw_candidate
      from unnest(plain || {{.schema}}._gw_incoming_candidates(claim, tasks, wide)
                  || case when (select true from {{.schema}}._gw_lanes as l where l.gate is null limit 1)
                          then {{.schema}}._gw_lane_candidates(claim, tasks, most, wide) end
                  || case when queue_ids <> '{}'
                          then {{.schema}}._gw_queue_candidates(claim, tasks, limited, queue_ids) end) as c
     order by c.priority, c.run_at, c.turn, c.job_id);
end;
$$;
