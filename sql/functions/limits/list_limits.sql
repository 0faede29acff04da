-- Returns the limits by name. lanes, full_lanes and closed_lanes do not count the lane for all jobs (total_running). A lane is full if its
-- maximum of jobs runs, and closed if a worker has closed it by rate_limited().
create or replace function {{.schema}}.list_limits()
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
    closed_lanes  bigint
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
         coalesce(r.jobs, 0), coalesce(b.full_lanes, 0), coalesce(b.closed_lanes, 0)
    from {{.schema}}._gw_limits as i
    left join running as r on r.limit_id = i.id
    left join barred as b on b.limit_id = i.id
   order by i.name;
end;
$$;

comment on function {{.schema}}.list_limits() is
  'Returns the limits by name: each with its lanes, its running jobs, and how many lanes are full or closed.';

-- Returns the lanes of a limit after after_lane, by key, each with its running jobs, and why it starts no job now: paused, closed, full or
-- rate, until when. The lane null stands for all jobs. served_at: when a job was last started, null if
-- none was.
-- Raises GWILM (max_rows is negative).
create or replace function {{.schema}}.list_lanes(
  limit_name text,
  after_lane text    default null,
  max_rows   integer default 100
)
  returns table (
    lane        text,
    is_total    boolean,
    max_running integer,
    rate        integer,
    per         interval,
    burst       integer,
    running     bigint,
    job_ids     bigint[],
    reason      text,
    until       timestamptz,
    served_at   timestamptz
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  gate_ids integer[];
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  gate_ids := array(
    select g.id
      from {{.schema}}._gw_limits as i
      join {{.schema}}._gw_gates as g on g.limit_id = i.id
     where i.name = list_lanes.limit_name and (after_lane is null or g.key > after_lane)
     order by g.key nulls first, g.is_total
     limit max_rows);
  return query
  with running as (
    select r.gate_id, count(*) as jobs, array_agg(r.job_id order by r.job_id) as job_ids
      from {{.schema}}._gw_running_at(gate_ids) as r
     group by r.gate_id
  )
  select s.key, s.is_total, s.max_running, s.rate, s.per, s.burst, coalesce(r.jobs, 0), r.job_ids, s.reason, s.opens_at,
         nullif(s.served_at, 'epoch')
    from {{.schema}}._gw_seen_gates(gate_ids, clock_timestamp()) as s
    left join running as r on r.gate_id = s.gate_id
   order by s.key nulls first, s.is_total;
end;
$$;

comment on function {{.schema}}.list_lanes(text, text, integer) is
  'Returns the lanes of a limit after after_lane, by key: what applies to each, the jobs that run in it, and why it starts no job now and until when. served_at: when a job was last started, null if none was.';
