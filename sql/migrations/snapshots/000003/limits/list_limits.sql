-- Returns the limits by name. lanes, full_lanes and closed_lanes do not count the lane for all jobs (total_running). A lane is full if its
-- maximum of jobs runs, and closed if a worker has closed it by rate_limited(). waiting: how many due jobs to which the limit applies do
-- not run, null without count_waiting; if more_waiting is true, there are more than that.
create or replace function {{.schema}}.list_limits(
  count_waiting boolean default true
)
  returns table (
    name          text,
    tasks         text[],
    by            text,
    max_running   integer,
    total_running integer,
    rate          integer,
    per           interval,
    burst         integer,
    fair          boolean,
    strict        interval,
    lanes         bigint,
    running       bigint,
    full_lanes    bigint,
    closed_lanes  bigint,
    waiting       bigint,
    more_waiting  boolean
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  now_at timestamptz := clock_timestamp();
begin
  return query
  with running as (
    select g.limit_id, count(distinct r.job_id) as jobs
      from {{.schema}}._gw_running_at(null) as r
      join {{.schema}}._gw_gates as g on g.id = r.gate_id
     group by g.limit_id
  ), barred as (
    select s.limit_id, count(*) filter (where s.reason = 'full') as full_lanes, count(*) filter (where s.reason = 'closed') as closed_lanes
      from {{.schema}}._gw_seen_gates(
             array(select g.id
                     from {{.schema}}._gw_gates as g
                    where not g.is_total
                      and (g.running > 0 or g.closed_until > now_at
                           or exists (select from {{.schema}}._gw_gate_ends as e where e.gate_id = g.id and e.closed_until > now_at))),
             now_at) as s
     group by s.limit_id
  )
  select i.name, i.tasks, i.by, i.max_running, i.total_running, i.rate, i.per, coalesce(i.burst, i.rate), i.fair, i.strict,
         (select count(*) from {{.schema}}._gw_gates as g where g.limit_id = i.id and not g.is_total),
         coalesce(r.jobs, 0), coalesce(b.full_lanes, 0), coalesce(b.closed_lanes, 0),
         w.jobs, w.is_more
    from {{.schema}}._gw_limits as i
    left join lateral ( -- a job passes one lane with a key, the one for all jobs, or both
          select coalesce(greatest(sum(g.jobs) filter (where g.is_total), sum(g.jobs) filter (where not g.is_total)), 0)::bigint as jobs,
                 coalesce(bool_or(g.is_more), false) as is_more
            from {{.schema}}._gw_waiting_at(i.id, now_at) as g) as w on count_waiting
    left join running as r on r.limit_id = i.id
    left join barred as b on b.limit_id = i.id
   order by i.name;
end;
$$;

comment on function {{.schema}}.list_limits(boolean) is
  'Returns the limits by name: each with its lanes, its running jobs, how many lanes are full or closed, and how many due jobs wait (more_waiting: more than that).';

-- Returns the lanes of a limit after after_lane, by key, each with its running jobs, and why it starts no job now: paused, closed, full or
-- rate, until when. The lane null stands for all jobs. served_at: when a job was last started, null if none was. waiting: how many due jobs
-- of the lane do not run; if more_waiting is true, there are more than that. barred: of the lanes that are closed, full, have used up
-- their rate or are paused by their key those in which most jobs wait, instead of all by key.
-- Raises GWILM (max_rows is negative).
create or replace function {{.schema}}.list_lanes(
  limit_name text,
  after_lane text    default null,
  max_rows   integer default 100,
  barred     boolean default false
)
  returns table (
    lane         text,
    is_total     boolean,
    max_running  integer,
    rate         integer,
    per          interval,
    burst        integer,
    running      bigint,
    job_ids      bigint[],
    reason       text,
    until        timestamptz,
    served_at    timestamptz,
    waiting      bigint,
    more_waiting boolean
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  the_limit integer;
  gate_ids  integer[];
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  the_limit := (select i.id from {{.schema}}._gw_limits as i where i.name = list_lanes.limit_name);
  gate_ids := array(
    select g.id
      from {{.schema}}._gw_gates as g
     where g.limit_id = the_limit and (after_lane is null or g.key > after_lane)
       and (barred is not true or g.running > 0 or g.closed_until > now_at or g.theoretic_at > now_at
            or exists (select from {{.schema}}._gw_gate_ends as e where e.gate_id = g.id and e.closed_until > now_at)
            or exists (select from {{.schema}}._gw_pauses as p where p.limit_name = list_lanes.limit_name and p.key = g.key))
     order by g.key nulls first, g.is_total
     limit case when barred then null else max_rows end);
  return query
  with running as (
    select r.gate_id, count(*) as jobs, array_agg(r.job_id order by r.job_id) as job_ids
      from {{.schema}}._gw_running_at(gate_ids) as r
     group by r.gate_id
  ), waiting as materialized (
    select w.* from {{.schema}}._gw_waiting_at(the_limit, now_at) as w
  )
  select s.key, s.is_total, s.max_running, s.rate, s.per, s.burst, coalesce(r.jobs, 0), r.job_ids, s.reason, s.opens_at,
         nullif(s.served_at, 'epoch'), coalesce(w.jobs, 0), coalesce(w.is_more, false)
    from {{.schema}}._gw_seen_gates(gate_ids, now_at) as s
    left join running as r on r.gate_id = s.gate_id
    left join waiting as w on w.is_total = s.is_total and w.key is not distinct from s.key
   where barred is not true or s.reason is not null
   order by case when barred then coalesce(w.jobs, 0) end desc, s.key nulls first, s.is_total
   limit max_rows;
end;
$$;

comment on function {{.schema}}.list_lanes(text, text, integer, boolean) is
  'Returns the lanes of a limit after after_lane, by key: what applies to each, the jobs that run in it, and why it starts no job now and until when. served_at: when a job was last started, null if none was. waiting: how many due jobs of the lane wait; more_waiting: more than that. barred: only lanes that start no job now, those in which most jobs wait first.';

-- Returns how many due jobs wait at each gate of a limit, also at gates that no claim has made yet: in lanes, incoming ones, in named
-- queues, and plain ones among the first of all. Lanes of limits that have changed do not name the gates of today: their jobs count as
-- incoming ones do, by their keys. It reads at most 10 000 jobs of each lane and of the others, but 2000 others if their
-- payloads have to be read for their keys. is_more: there are more than jobs.
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
