-- For heartbeats: counts the gates anew, and mends what changes of the tables by hand, and Node's reset of old locks,
-- have left: running jobs that are gone, lanes whose first job they do not know, jobs of lanes that do not exist, and
-- those of the first ones of a lane that pass other gates.
-- Bounded: at most a thousand lanes in each call, from where the last call ended. Skips limits that another transaction
-- holds. Deletes gates and lanes that nobody has used for a while. Returns whether to call it again at once, because
-- jobs of more lanes wait.
-- Locks: rows of _gw_limits, without waiting; then their gates and lanes.
create or replace function {{.schema}}._gw_sweep_limits()
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  held     integer[];
  tasks    integer[]; -- all their limits are held, or they have none
  late     bigint[]; -- jobs that were locked when limits changed
  lane_ids integer[];
  places   tid[];
  mended   bigint; -- rows
  lost     bigint;
begin
  held := array(select l.id from {{.schema}}._gw_limits as l order by l.id for no key update skip locked);
  tasks := array(select t.id
                   from {{.schema}}._private_tasks as t
                  where not exists (select from {{.schema}}._gw_limits as l
                                     where (l.tasks is null or t.identifier = any (l.tasks)) and l.id <> all (held)));
  perform {{.schema}}._gw_count_ends(held, clock_timestamp());
  mended := {{.schema}}._gw_count_gates(held);
  late := array(select j.id
                  from {{.schema}}._gw_queued_lanes as q
                 cross join lateral (select j.* from {{.schema}}._private_jobs as j where j.id = q.job_id offset 0) as j
                  left join lateral (select l.generation from {{.schema}}._gw_lanes as l where l.id = q.lane_id offset 0) as l on true
                 where j.locked_at is not null and j.task_id = any (tasks)
                   and l.generation is distinct from ({{.schema}}._gw_limits_of(j.task_id)).generation);
  if late <> '{}' then
    perform {{.schema}}._gw_give_lanes(late);
    perform {{.schema}}._gw_count_gates(held);
  end if;
  perform {{.schema}}._gw_set_back_rates(held);
  lane_ids := {{.schema}}._gw_next_lanes(1000);
  -- Lanes whose first job is not where they say: another one comes first, one has come back, or none is left.
  perform {{.schema}}._gw_place_lanes(
    array(select l.id
            from unnest(lane_ids) as u (id)
           cross join lateral (
                 select j.priority, j.run_at, j.id
                   from {{.schema}}._private_jobs as j
                  where j.is_available and j.job_queue_id = u.id
                  order by j.priority, j.run_at, j.id
                  limit 1) as f
           cross join lateral (select l.* from {{.schema}}._gw_lanes as l where l.id = u.id offset 0) as l
           where l.task_id = any (tasks) and (l.gate = 0 or (f.priority, f.run_at, f.id) <> (l.priority, l.run_at, l.job_id))),
    clock_timestamp());
  -- Jobs of lanes that do not exist, and those of the first ones that somebody has changed so that they pass other gates.
  places := array(
    select j.ctid
      from unnest(lane_ids) as u (id)
      left join lateral (select l.* from {{.schema}}._gw_lanes as l where l.id = u.id offset 0) as l on true
     cross join lateral (select t.* from {{.schema}}._gw_limits_of(l.task_id) as t offset 0) as t
     cross join lateral (
           select j.ctid, j.payload, j.flags
             from {{.schema}}._private_jobs as j
            where j.is_available and j.job_queue_id = u.id
            order by j.priority, j.run_at, j.id
            limit case when l.id is null then 1000 else 1000 / cardinality(lane_ids) end) as j
     where l.id is null
        or l.task_id = any (tasks) and l.generation = t.generation
           and l.gates <> (select o.gates from {{.schema}}._gw_lane_of(row(t.*)::{{.schema}}._gw_limited_task, j.payload, j.flags) as o)
     limit 1000);
  update {{.schema}}._private_jobs as j
     set job_queue_id = -1
   where j.ctid = any (array(select j.ctid from {{.schema}}._private_jobs as j
                              where j.ctid = any (places) and j.is_available and j.job_queue_id = any (lane_ids)
                                for update skip locked));
  get diagnostics lost = row_count;
  delete from {{.schema}}._gw_queued_lanes as q
   where not exists (select from {{.schema}}._private_jobs as j where j.id = q.job_id and j.locked_at is not null offset 0);
  perform {{.schema}}._gw_drop_idle(held, tasks);
  perform {{.schema}}._gw_name_gates(
    array(select g.id from {{.schema}}._gw_gates as g where g.limit_id = any (held)), clock_timestamp());
  if mended + lost > 0 then
    insert into {{.schema}}._gw_mends (mended) values (mended + lost);
    delete from {{.schema}}._gw_mends as m where m.at < now() - interval '2 days';
    perform {{.schema}}._gw_wake(lost);
  end if;
  return cardinality(lane_ids) = 1000;
end;
$$;

-- Returns the next lanes in which available jobs are, by their numbers, from where the last call ended.
create or replace function {{.schema}}._gw_next_lanes(most integer)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- the sweep sets the planner options
as $$
declare
  lane_ids integer[];
begin
  with recursive lanes (id, number) as (
    (select j.job_queue_id, 1
       from {{.schema}}._private_jobs as j
      where j.is_available and j.job_queue_id <= -16
        and j.job_queue_id > (select - c.last_value from {{.schema}}._gw_lane_cursor as c)
      order by j.job_queue_id
      limit 1)
    union all
    select n.job_queue_id, l.number + 1
      from lanes as l
     cross join lateral (
            select j.job_queue_id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id <= -16 and j.job_queue_id > l.id
             order by j.job_queue_id
             limit 1) as n
     where l.number < most
  )
  select coalesce(array_agg(l.id), '{}') into lane_ids from lanes as l;
  perform setval('{{ replace "'" "''" .schema }}._gw_lane_cursor',
                 case when cardinality(lane_ids) = most then - (lane_ids[most]::bigint) else 2147483649 end);
  return lane_ids;
end;
$$;

-- Deletes some of the lanes in which no job waits or runs, and of the gates that no lane has, that are not closed, and
-- whose numbers nobody has overridden. A rate keeps its gate until it is unused.
create or replace function {{.schema}}._gw_drop_idle(held integer[], tasks integer[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp -- the sweep sets the planner options
as $$
begin
  delete from {{.schema}}._gw_lanes as l
   where l.id = any (array(
           select l.id
             from {{.schema}}._gw_lanes as l
            where l.task_id = any (tasks) and l.gate = 0 and l.served_at < clock_timestamp() - interval '1 minute'
              and not exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = l.id)
              and not exists (select from {{.schema}}._private_jobs as j
                               where not j.is_available and (j.locked_at is null or j.job_queue_id < 0)
                                 and (case when j.locked_at is not null then j.job_queue_id else 0 end) = l.id)
              and not exists (select from {{.schema}}._gw_queued_lanes as q where q.lane_id = l.id)
            limit 1000));
  delete from {{.schema}}._gw_gates as g
   where g.id = any (array(
           select g.id
             from {{.schema}}._gw_gates as g
            where g.limit_id = any (held) and g.running = 0 and g.key is not null
              and num_nonnulls(g.max_running, g.rate) = 0 and greatest(g.theoretic_at, g.closed_until,
                           case when (select l.fair from {{.schema}}._gw_limits as l where l.id = g.limit_id) then g.served_at + interval '1 minute' end)
                  < clock_timestamp()
              and not exists (select from {{.schema}}._gw_gate_ends as e where e.gate_id = g.id)
            except -- `not exists` would read all lanes for each gate
            select u.id from {{.schema}}._gw_lanes as l cross join unnest(l.gates) as u (id)
            limit 1000));
  -- Of limits that were dropped while jobs ended.
  delete from {{.schema}}._gw_gate_ends as e where not exists (select from {{.schema}}._gw_limits as l where l.id = e.limit_id);
end;
$$;
