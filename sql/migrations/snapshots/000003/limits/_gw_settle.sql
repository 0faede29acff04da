-- For operators, after a change of which jobs limits apply to, or of their keys. The running jobs of these tasks (null:
-- of all), if workers of gw have claimed them, get the lanes of the new generation, so that the gates count them; then
-- the gates of these limits, which the caller holds, are counted anew. Waiting jobs are not touched: claims notice that
-- their lanes are of an old generation. Jobs that Node's workers run are not counted, because no end would be reported
-- for them.
-- Locks: running jobs, skipping those that other transactions have locked: a sweep takes these.
create or replace function {{.schema}}._gw_settle(task_names text[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_bitmapscan = off set jit = off
as $$
declare
  limit_ids integer[] := array(select l.id from {{.schema}}._gw_limits as l where (l.tasks && task_names) is not false);
  running   bigint[];
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
  perform {{.schema}}._gw_look_at_limits(limit_ids);
end;
$$;

comment on function {{.schema}}._gw_settle(text[]) is 'Internal: for operators, after a change of which jobs limits apply to, or of their keys.';

-- Gives running jobs the lanes of the present limits. The caller holds all limits of their tasks. Those that other
-- transactions have locked are noted in _gw_queued_lanes, for a sweep.
-- Locks: the jobs by id, without waiting.
create or replace function {{.schema}}._gw_give_lanes(job_ids bigint[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  wanted constant bigint[] := job_ids;
  tasks  {{.schema}}._gw_limited_task[];
begin
  job_ids := array(select j.id
                     from {{.schema}}._private_jobs as j
                    where j.id = any (job_ids) and j.locked_at is not null
                    order by j.id
                      for no key update skip locked);
  insert into {{.schema}}._gw_queued_lanes (job_id, lane_id)
  select u.id, 0 from (select unnest(wanted) except select unnest(job_ids)) as u (id)
      on conflict do nothing;
  if job_ids = '{}' then
    return;
  end if;
  tasks := array(select {{.schema}}._gw_limits_of(u.task_id)
                   from (select distinct j.task_id from {{.schema}}._private_jobs as j where j.id = any (job_ids)) as u);
  perform {{.schema}}._gw_make_lanes(tasks, job_ids);
  delete from {{.schema}}._gw_queued_lanes as q where q.job_id = any (job_ids);
  with lanes as materialized (
    select j.id, j.ctid, j.job_queue_id, case when t.limit_ids <> '{}' then l.lane_id end as lane_id
      from {{.schema}}._private_jobs as j
      join unnest(tasks) as t on t.task_id = j.task_id
     cross join lateral {{.schema}}._gw_lane_of(row(t.*)::{{.schema}}._gw_limited_task, j.payload, j.flags) as l
     where j.id = any (job_ids)
  ), queued as (
    insert into {{.schema}}._gw_queued_lanes (job_id, lane_id)
    select l.id, l.lane_id from lanes as l where l.job_queue_id > 0 and l.lane_id is not null
  )
  update {{.schema}}._private_jobs as j
     set job_queue_id = l.lane_id
    from lanes as l
   where j.ctid = l.ctid and coalesce(l.job_queue_id, -16) <= -16 and l.job_queue_id is distinct from l.lane_id;
end;
$$;

comment on function {{.schema}}._gw_give_lanes(bigint[]) is 'Internal: gives running jobs the lanes of the present limits.';

-- Counts the gates of these limits, which the caller holds, anew: what runs, and what has ended and no claim has
-- counted yet, as one statement sees them. Returns how many had another number: somebody has changed running jobs by
-- hand.
create or replace function {{.schema}}._gw_count_gates(limit_ids integer[])
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  changes constant {{.schema}}._gw_gate_change[] := array(
    select row(u.gate_id, sum(u.jobs) - max(u.running), null, null, null)::{{.schema}}._gw_gate_change
      from (select r.gate_id, 1 as jobs, null::integer as running from {{.schema}}._gw_running_at(null) as r
            union all
            select e.gate_id, e.jobs, null from {{.schema}}._gw_gate_ends as e where e.limit_id = any (limit_ids)
            union all
            select g.id, 0, g.running from {{.schema}}._gw_gates as g where g.limit_id = any (limit_ids)) as u
     group by u.gate_id
    having sum(u.jobs) <> max(u.running));
begin
  perform {{.schema}}._gw_set_turns({{.schema}}._gw_count_at_gates(changes));
  return cardinality(changes);
end;
$$;

comment on function {{.schema}}._gw_count_gates(integer[]) is 'Internal: counts the gates of these limits, which the caller holds, anew: what runs, and what has ended and no claim has counted yet, as one statement sees them.';
