-- Makes the missing gates and lanes of jobs of these tasks, which pass gates at which no job has been before, or
-- together for the first time. The caller holds the limits of the tasks. The id of a lane may be in use: then the lane
-- is made when it is needed again.
create or replace function {{.schema}}._gw_make_lanes(tasks {{.schema}}._gw_limited_task[], job_ids bigint[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  insert into {{.schema}}._gw_gates (limit_id, key, is_total, theoretic_at)
  select distinct g.limit_id, g.key, g.is_total, (select l.theoretic_at from {{.schema}}._gw_limits as l where l.id = g.limit_id)
    from {{.schema}}._private_jobs as j
    join unnest(tasks) as t on t.task_id = j.task_id
   cross join lateral {{.schema}}._gw_gates_of(t.limit_ids, j.payload, j.flags) as g
   where j.id = any (job_ids) and t.limit_ids <> '{}' and g.gate_id is null
      on conflict do nothing;
  insert into {{.schema}}._gw_lanes (id, task_id, generation, gates, fair_gate, gate, running, served_at)
  select nextval('{{ replace "'" "''" .schema }}._gw_lane_ids'), n.task_id, n.generation, n.gates, f.id, 0, coalesce(f.running, 0),
         coalesce(f.served_at, 'epoch')
    from (select distinct t.task_id, t.generation, l.gates, l.fair_gate
            from {{.schema}}._private_jobs as j
            join unnest(tasks) as t on t.task_id = j.task_id
           cross join lateral {{.schema}}._gw_lane_of(row(t.*)::{{.schema}}._gw_limited_task, j.payload, j.flags) as l
           where j.id = any (job_ids) and t.limit_ids <> '{}' and l.lane_id is null and array_position(l.gates, null) is null) as n
    left join lateral (select f.id, f.running, f.served_at from {{.schema}}._gw_gates as f where f.id = n.fair_gate offset 0) as f on true
      on conflict do nothing;
end;
$$;

comment on function {{.schema}}._gw_make_lanes({{.schema}}._gw_limited_task[], bigint[]) is 'Internal: makes the missing gates and lanes of jobs of these tasks, which pass gates at which no job has been before, or together for the first time.';

-- The jobs of lanes of an old generation come in again, some hundreds in each claim; without limits they become plain.
-- The caller holds the limits of the tasks.
-- Locks: lanes and jobs, without waiting. A task without limits has no lock, so several claims may do this at once.
create or replace function {{.schema}}._gw_empty_old_lanes(tasks {{.schema}}._gw_limited_task[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  lane_ids integer[];
begin
  lane_ids := array(
    select o.id
      from unnest(tasks) as t
     cross join (values (true), (false)) as w (before) -- each by the index
     cross join lateral (
            select l.id
              from {{.schema}}._gw_lanes as l
             where l.task_id = t.task_id and l.gate is distinct from 0
               and l.generation > case when w.before then -9223372036854775808 else t.generation end
               and l.generation < case when w.before then t.generation else 9223372036854775807 end
             limit 100
               for update skip locked) as o);
  if lane_ids = '{}' then
    return;
  end if;
  update {{.schema}}._private_jobs as j
     set job_queue_id = case when exists (select from unnest(tasks) as t where t.task_id = j.task_id and t.limit_ids <> '{}') then -1 end
   where j.ctid = any (array(
           select a.ctid
             from unnest(lane_ids) as l (id)
            cross join lateral (
                  select j.ctid
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id = l.id
                   order by j.priority, j.run_at, j.id
                   limit 500
                     for update skip locked) as a
            limit 500));
  update {{.schema}}._gw_lanes as l
     set gate = 0
   where l.id = any (lane_ids)
     and not exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = l.id);
end;
$$;

comment on function {{.schema}}._gw_empty_old_lanes({{.schema}}._gw_limited_task[]) is 'Internal: the jobs of lanes of an old generation come in again, some hundreds in each claim; without limits they become plain.';
