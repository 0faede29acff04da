-- Returns the limits by name, without those of pause(). lanes, full_lanes and closed_lanes do not count the lane for all
-- jobs. A lane is full if its maximum of jobs runs, and closed if a worker has closed it by rate_limited().
create or replace function {{.schema}}.list_limits()
  returns table (
    name          text,
    tasks         text[],
    queues        text,
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
    is_moving     boolean,
    full_lanes    bigint,
    closed_lanes  bigint
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select i.name, i.tasks, i.queues, i.by, i.max_running, i.total_running, i.rate, i.per, coalesce(i.burst, i.rate), i.fair, i.strict,
         (select count(*) from {{.schema}}._gw_lanes as l where l.limit_id = i.id and not l.is_total),
         r.running,
         exists (select from {{.schema}}._gw_moves as m where (m.tasks && i.tasks) is not false),
         r.full_lanes, r.closed_lanes
    from {{.schema}}._gw_limits as i
   cross join lateral (
          select array_agg(s.lane_id) as lane_ids, array_agg(s.job_id) as job_ids, array_agg(s.kept_until is not null) as are_kept
            from {{.schema}}._gw_slots(array(select l.id from {{.schema}}._gw_lanes as l where l.limit_id = i.id)) as s
          offset 0) as w
   cross join lateral (
          select (select count(distinct u.job_id)
                    from unnest(w.lane_ids, w.job_ids, w.are_kept) as u (lane_id, job_id, is_kept)
                   where not u.is_kept) as running,
                 count(*) filter (where o.reason = 'full') as full_lanes, count(*) filter (where o.reason = 'closed') as closed_lanes
            from {{.schema}}._gw_lane_rooms(
                   array(select l.id
                           from {{.schema}}._gw_lanes as l
                          where l.limit_id = i.id and not l.is_total
                            and (l.closed_until > clock_timestamp() or l.id = any (w.lane_ids))),
                   clock_timestamp()) as o) as r
   where not i.is_pause
   order by i.name;
end;
$$;

comment on function {{.schema}}.list_limits() is
  'Returns the limits by name: each with its lanes, its running jobs, whether jobs are still being moved into their lanes, and how many lanes are full or closed.';

-- Returns the lanes of a limit after after_lane, by key, each with the number of its running and waiting jobs, and why it
-- starts no job now: paused, closed, full or rate, until when, and which jobs hold its slots. The lane null stands for all
-- jobs. served_at: when a job was last started, or the lane was made; up to 10 minutes earlier unless it is fair or has a rate.
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
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  return query
  with page as materialized (
    select l.id, l.key, l.is_total, l.served_at,
           coalesce(l.max_running, case when l.is_total then i.total_running else i.max_running end) as max_running,
           coalesce(l.rate, i.rate) as rate, coalesce(l.per, i.per) as per, coalesce(l.burst, i.burst, l.rate, i.rate) as burst
      from {{.schema}}._gw_limits as i
      join {{.schema}}._gw_lanes as l on l.limit_id = i.id
     where i.name = limit_name and (after_lane is null or l.key > after_lane)
     order by l.key nulls first
     limit max_rows
  ), slots as materialized (
    select s.lane_id, s.job_id, s.kept_until from {{.schema}}._gw_slots(array(select o.id from page as o)) as s
  )
  select p.key, p.is_total, p.max_running, p.rate, p.per, p.burst, coalesce(cardinality(h.job_ids), 0)::bigint, h.job_ids, r.reason,
         r.opens_at, p.served_at
    from page as p
    join {{.schema}}._gw_lane_rooms(array(select o.id from page as o), clock_timestamp()) as r on r.lane_id = p.id
   cross join lateral (
          select array_agg(s.job_id order by s.job_id) as job_ids
            from slots as s
           where s.lane_id = p.id and s.kept_until is null) as h
   order by p.key nulls first;
end;
$$;

comment on function {{.schema}}.list_lanes(text, text, integer) is
  'Returns the lanes of a limit after after_lane, by key: what applies to each, the jobs that run in it, and why it starts no job now and until when. served_at: when a job was last started, or the lane was made; up to 10 minutes earlier unless it is fair or has a rate.';
