-- Returns how many due jobs wait at each gate of a limit, also at gates that no claim has made yet: in lanes, incoming
-- ones, in named queues, and plain ones among the first of all. Lanes of limits that have changed do not name the gates
-- of today: their jobs count as incoming ones do, by their keys. It reads at most 10 000 jobs of each lane and of the
-- others, but 2000 others if their payloads have to be read for their keys. is_more: there are more than jobs.
create or replace function {{.schema}}._gw_waiting_at(limit_id integer, at timestamptz)
  returns table (key text, is_total boolean, jobs bigint, is_more boolean) language plpgsql stable rows 100
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  tasks  constant integer[] := array(
    select t.id
      from {{.schema}}._gw_limits as l
      join {{.schema}}._private_tasks as t on l.tasks is null or t.identifier = any (l.tasks)
     where l.id = _gw_waiting_at.limit_id);
  in_lane constant integer := 10000;
  others  constant integer := (select case when l.by is null then 10000 else 2000 end from {{.schema}}._gw_limits as l where l.id = _gw_waiting_at.limit_id);
begin
  return query
  with lanes_of as materialized (
    select l.id, l.gates, l.generation = t.generation as is_valid
      from unnest(tasks) as u (id)
     cross join lateral {{.schema}}._gw_limits_of(u.id) as t
     cross join lateral (select l.* from {{.schema}}._gw_lanes as l where l.task_id = u.id and l.gate is distinct from 0 offset 0) as l
     limit in_lane + 1
  ), lanes as (
    select l.id, l.gates from lanes_of as l where l.is_valid
  ), seen as materialized (
    select o.payload, o.flags
      from unnest(tasks) as t (id)
     cross join lateral (
            (select j.payload, j.flags from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id = -1 and j.task_id = t.id and j.run_at <= at limit others + 1)
             union all
            (select j.payload, j.flags from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id > 0 and j.task_id = t.id and j.run_at <= at limit others + 1)) as o
     union all
    select j.payload, j.flags
      from lanes_of as l
     cross join lateral (
            select j.payload, j.flags from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = l.id and j.run_at <= at limit others + 1) as j
     where not l.is_valid
     union all
    select j.payload, j.flags
      from (select j.task_id, j.payload, j.flags
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id is null and j.run_at <= at
             order by j.priority, j.run_at, j.id
             limit 10000) as j
     where j.task_id = any (tasks)
     limit others + 1
  ), counted as (
    select g.key, g.is_total, least(n.jobs, in_lane) as jobs, n.jobs > in_lane as is_more
      from lanes as l
     cross join lateral (
            select count(*) as jobs
              from (select from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id = l.id and j.run_at <= at limit in_lane + 1) as j) as n
     cross join unnest(l.gates) as u (gate_id)
      join {{.schema}}._gw_gates as g on g.id = u.gate_id and g.limit_id = _gw_waiting_at.limit_id
     union all
    select g.key, g.is_total, count(*), false
      from (select s.payload, s.flags from seen as s limit others) as s
     cross join lateral {{.schema}}._gw_gates_of(array[_gw_waiting_at.limit_id], s.payload, s.flags) as g
     group by g.key, g.is_total
  )
  select c.key, c.is_total, sum(c.jobs)::bigint,
         bool_or(c.is_more) or (select count(*) > others from seen) or (select count(*) > in_lane from lanes_of)
    from counted as c
   group by c.key, c.is_total;
end;
$$;

comment on function {{.schema}}._gw_waiting_at(integer, timestamptz) is 'Internal: returns how many due jobs wait at each gate of a limit, also at gates that no claim has made yet: in lanes, incoming ones, in named queues, and plain ones among the first of all.';
