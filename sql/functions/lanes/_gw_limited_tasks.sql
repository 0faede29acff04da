-- Returns those of these tasks to which a limit applies.
create or replace function {{.schema}}._gw_tasks_under_limits(task_ids integer[])
  returns integer[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  if exists (select from {{.schema}}._gw_limits as l where l.id > 0 and l.tasks is null) then
    return task_ids;
  end if;
  return array(select t.id
                 from {{.schema}}._private_tasks as t
                where t.identifier = any (array(select u.task from {{.schema}}._gw_limits as l cross join unnest(l.tasks) as u (task) where l.id > 0))
                  and t.id = any (task_ids));
end;
$$;

-- Returns those of these tasks of which jobs wait in named queues.
create or replace function {{.schema}}._gw_tasks_in_queues(task_ids integer[])
  returns integer[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  return array(select t.id
                 from unnest(task_ids) as t (id)
                where (select true
                         from {{.schema}}._private_jobs as j
                        where j.is_available and j.job_queue_id > 0 and (j.task_id, j.priority) >= (t.id, -32768)
                          and (j.task_id, j.priority) <= (t.id, 32767)
                        limit 1));
end;
$$;

-- Returns the limits of a task as this statement sees them. generation: that of the lanes of the task, a hash of its
-- limits. Without limits there are none in limit_ids.
create or replace function {{.schema}}._gw_limits_of(task_id integer)
  returns {{.schema}}._gw_limited_task language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select row(_gw_limits_of.task_id, coalesce(array_agg(l.id order by l.id), '{}'),
               coalesce(hashtextextended(string_agg(l.id || ' ' || l.generation, ',' order by l.id), 0), 0),
               coalesce(bool_or(l.by is not null), false), coalesce(bool_or(l.fair), false))::{{.schema}}._gw_limited_task
      from {{.schema}}._gw_limits as l
     where l.tasks is null
        or (select t.identifier from {{.schema}}._private_tasks as t where t.id = _gw_limits_of.task_id) = any (l.tasks));
end;
$$;

-- Returns those of these tasks that have incoming jobs, lanes in which jobs wait, or, if limits apply to them
-- (limited), jobs in named queues; with their limits. What a task without limits has here is left from a limit or a
-- pause.
-- due: only those for which a claim of jobs that are due then can do something now: a lane is open or of an old
-- generation, something has ended at a gate for which a job of the task waits, or there are incoming jobs or jobs in
-- queues, and all gates that jobs of the task share have room. It reads without locks.
create or replace function {{.schema}}._gw_limited_tasks(
  task_ids integer[], limited integer[], at timestamptz, due timestamptz default null)
  returns {{.schema}}._gw_limited_task[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  return (
    with recursive found (task_id) as (
      select min(u.id) - 1 from unnest(task_ids) as u (id)
      union all
      select least((select j.task_id
                      from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id = -1 and j.task_id > f.task_id
                     order by j.task_id
                     limit 1),
                   (select l.task_id
                      from {{.schema}}._gw_lanes as l
                     where l.gate is distinct from 0 and l.task_id > f.task_id
                     order by l.task_id
                     limit 1))
        from found as f
       where f.task_id < (select max(u.id) from unnest(task_ids) as u (id))
    )
    select array_agg(row(t.*)::{{.schema}}._gw_limited_task order by t.task_id)
      from (select f.task_id from found as f
            union
            select q.id from unnest({{.schema}}._gw_tasks_in_queues(limited)) as q (id)) as u
     cross join lateral {{.schema}}._gw_limits_of(u.task_id) as t
     cross join lateral (
            select due is not null
                   and (exists (select from {{.schema}}._private_jobs as j
                                 where j.is_available and j.job_queue_id = -1 and j.task_id = t.task_id and j.run_at <= due)
                        or (select bool_or(f.is_free) or count(*) = 20 -- the free one may come later
                              from (select (select q.locked_at is null from {{.schema}}._private_job_queues as q where q.id = j.job_queue_id) as is_free
                                      from {{.schema}}._private_jobs as j
                                     where t.limit_ids <> '{}' and j.is_available and j.job_queue_id > 0 and j.run_at <= due
                                       and (j.task_id, j.priority) >= (t.task_id, -32768) and (j.task_id, j.priority) <= (t.task_id, 32767)
                                     limit 20) as f)) as has_jobs
            offset 0) as w
     where u.task_id = any (task_ids)
       and (due is null
            or (select true from {{.schema}}._gw_lanes as l where l.task_id = t.task_id and l.gate is null limit 1) -- `exists` may read all lanes
            or exists (select from {{.schema}}._gw_lanes as l where l.task_id = t.task_id and l.gate is distinct from 0 and l.generation < t.generation)
            or exists (select from {{.schema}}._gw_lanes as l where l.task_id = t.task_id and l.gate is distinct from 0 and l.generation > t.generation)
            or exists (select from {{.schema}}._gw_gate_ends as e
                        where e.limit_id = any (t.limit_ids) and e.at <= _gw_limited_tasks.at
                          and (w.has_jobs and e.jobs > 0
                               or (select true from {{.schema}}._gw_lanes as l where l.gate = e.gate_id and l.gate > 0 and l.task_id = t.task_id limit 1)))
            or w.has_jobs and (t.is_fair or ({{.schema}}._gw_shared_room(t.limit_ids, _gw_limited_tasks.at)).room is distinct from 0)));
end;
$$;

-- Returns the room at the gates that all jobs of a task with these limits pass, those of limits without keys, and when
-- one of them opens; see _gw_gate_rooms.
create or replace function {{.schema}}._gw_shared_room(limit_ids integer[], at timestamptz, out room integer, out opens_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  gate_ids integer[]; -- in a variable, because PostgreSQL inlines no function with a query as an argument
begin
  gate_ids := array(select g.id
                      from {{.schema}}._gw_limits as l
                     cross join lateral (select g.id from {{.schema}}._gw_gates as g where g.limit_id = l.id and g.key is null offset 0) as g
                     where l.id = any (limit_ids) and l.by is null);
  select min(r.room), min(r.opens_at) into room, opens_at from {{.schema}}._gw_gate_rooms(gate_ids, at) as r;
end;
$$;

-- Locks the limits of these tasks, as many of them as no other transaction holds, and returns their ids. If several
-- limits apply to a task and one of them seems to be held, the others are left, because their lock would keep claims of
-- other tasks away for nothing.
-- Locks: rows of _gw_limits, without waiting.
create or replace function {{.schema}}._gw_take_limits(tasks {{.schema}}._gw_limited_task[])
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  snapshot txid_snapshot := txid_current_snapshot();
begin
  return array(
    select l.id
      from {{.schema}}._gw_limits as l
     where l.id = any (array(
             select u.id
               from unnest(_gw_take_limits.tasks) as t
              cross join unnest(t.limit_ids) as u (id)
              where cardinality(t.limit_ids) = 1
                 or not exists (select from {{.schema}}._gw_limits as h
                                 where h.id = any (t.limit_ids) and not {{.schema}}._gw_may_lock(h.xmax, snapshot))))
     order by l.id
       for no key update skip locked);
end;
$$;
