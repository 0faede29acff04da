-- For operators, after a change of which jobs limits apply to, or of their keys. The running jobs of these tasks (null: of all), if workers
-- of gw have claimed them, get the lanes of the new generation, so that the gates count them; then the gates of these limits, which the caller holds,
-- are counted anew. Waiting jobs are not touched: claims notice that their lanes are of an old generation. Jobs that Node's workers
-- run are not counted, because no end would be reported for them.
-- Locks: running jobs, skipping those that other transactions have locked: a later sweep counts these.
create or replace function {{.schema}}._gw_settle(limit_ids integer[], task_names text[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_bitmapscan = off set jit = off
as $$
declare
  running bigint[];
begin
  running := array(
    select j.id
      from {{.schema}}._private_jobs as j
     where j.locked_at is not null
       and (j.locked_by in (select w.id from {{.schema}}._gw_workers as w) or j.job_queue_id <= -16
            or j.job_queue_id > 0 and exists (select from {{.schema}}._gw_queued_lanes as q where q.job_id = j.id))
       and (task_names is null
            or j.task_id = any (array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_names)))));
  perform {{.schema}}._gw_give_lanes(running);
  perform {{.schema}}._gw_count_gates(limit_ids);
  perform {{.schema}}._gw_look_at_gates(array(select g.id from {{.schema}}._gw_gates as g where g.limit_id = any (limit_ids)));
end;
$$;

comment on function {{.schema}}._gw_settle(integer[], text[]) is
  'Internal: gives the running jobs of these tasks lanes of the present limits, and counts the gates of these limits anew.';

-- Gives running jobs the lanes of the present limits. The caller holds all limits of their tasks.
-- Locks: the jobs by id, without waiting.
create or replace function {{.schema}}._gw_give_lanes(job_ids bigint[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  tasks {{.schema}}._gw_limited_task[];
begin
  job_ids := array(select j.id
                     from {{.schema}}._private_jobs as j
                    where j.id = any (job_ids) and j.locked_at is not null
                    order by j.id
                      for no key update skip locked);
  if job_ids = '{}' then
    return;
  end if;
  tasks := array(select {{.schema}}._gw_limits_of(u.task_id)
                   from (select distinct j.task_id from {{.schema}}._private_jobs as j where j.id = any (job_ids)) as u);
  perform {{.schema}}._gw_make_lanes(tasks, job_ids);
  with lanes as materialized (
    select j.id, j.job_queue_id, l.id as lane_id
      from {{.schema}}._private_jobs as j
      join unnest(tasks) as t on t.task_id = j.task_id
     cross join lateral (
            select coalesce(array_agg(g.gate_id order by g.gate_id), '{}') as gates
              from {{.schema}}._gw_gates_of(t.limit_ids, j.payload, j.flags) as g) as g
      left join lateral (
            select l.id
              from {{.schema}}._gw_lanes as l
             where t.limit_ids <> '{}' and l.task_id = t.task_id and l.generation = t.generation and l.gates = g.gates
            offset 0) as l on true
     where j.id = any (job_ids)
  ), queued as (
    insert into {{.schema}}._gw_queued_lanes as q (job_id, lane_id)
    select l.id, l.lane_id from lanes as l where l.job_queue_id > 0 and l.lane_id is not null
        on conflict on constraint _gw_queued_lanes_pkey do update set lane_id = excluded.lane_id
  ), unlimited as (
    delete from {{.schema}}._gw_queued_lanes as q
     where q.job_id = any (array(select l.id from lanes as l where l.job_queue_id > 0 and l.lane_id is null))
  )
  update {{.schema}}._private_jobs as j
     set job_queue_id = l.lane_id
    from lanes as l
   where j.id = l.id and coalesce(l.job_queue_id, -16) <= -16 and j.job_queue_id is distinct from l.lane_id;
end;
$$;

comment on function {{.schema}}._gw_give_lanes(bigint[]) is
  'Internal: gives running jobs the lanes of the present limits.';

-- Counts the running jobs of the gates of these limits, which the caller holds, and what has ended there, in one statement: a job that ends
-- meanwhile is in both or in neither. Rows of _gw_gate_ends that are not due yet stay, and their jobs count as running. Returns how many
-- gates had another number than what has ended explains: somebody has changed running jobs by hand.
create or replace function {{.schema}}._gw_count_gates(limit_ids integer[])
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  counted_at timestamptz := clock_timestamp();
  gate_ids   integer[];
  mended     bigint;
begin
  with gone as (
    delete from {{.schema}}._gw_gate_ends as e
     where e.limit_id = any (limit_ids) and e.at <= counted_at
    returning e.gate_id, e.jobs, e.returned, e.closed_until
  ), ended as (
    select o.gate_id, sum(o.jobs) as jobs, sum(o.returned) as returned, max(o.closed_until) as closed_until from gone as o group by o.gate_id
  ), running as (
    select r.gate_id, count(*) as jobs from {{.schema}}._gw_running_at(null) as r group by r.gate_id
  ), kept as (
    select e.gate_id, sum(e.jobs) as jobs
      from {{.schema}}._gw_gate_ends as e
     where e.limit_id = any (limit_ids) and e.at > counted_at
     group by e.gate_id
  ), counted as (
    update {{.schema}}._gw_gates as g
       set running      = n.jobs,
           closed_until = greatest(g.closed_until, n.closed_until),
           theoretic_at = coalesce(g.theoretic_at - {{.schema}}._gw_charge(n.returned, n.rate, n.per), g.theoretic_at) -- without a rate
      from (select o.id, coalesce(r.jobs, 0) + coalesce(k.jobs, 0) as jobs, o.running - coalesce(e.jobs, 0) as expected, e.returned, e.closed_until,
                   coalesce(o.rate, l.rate) as rate, coalesce(o.per, l.per) as per
              from {{.schema}}._gw_gates as o
              join {{.schema}}._gw_limits as l on l.id = o.limit_id
              left join running as r on r.gate_id = o.id
              left join kept as k on k.gate_id = o.id
              left join ended as e on e.gate_id = o.id
             where o.limit_id = any (limit_ids)) as n
     where g.id = n.id and (g.running <> n.jobs or n.returned > 0 or n.closed_until > g.closed_until)
    returning g.id, n.jobs <> n.expected as is_mended
  )
  select array_agg(c.id), count(*) filter (where c.is_mended) into gate_ids, mended from counted as c;
  perform {{.schema}}._gw_set_turns(gate_ids) where gate_ids is not null;
  return mended;
end;
$$;

comment on function {{.schema}}._gw_count_gates(integer[]) is
  'Internal: counts the running jobs of the gates of these limits anew. Returns how many of them had a wrong number.';
