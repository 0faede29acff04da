-- Returns the limits by name. lanes, full_lanes and closed_lanes do not count the lane for all jobs (total_running). A
-- lane is full if its maximum of jobs runs, and closed if a worker has closed it by rate_limited(). waiting: how many
-- due jobs to which the limit applies do not run, null without count_waiting; if more_waiting is true, there are more
-- than that.
create or replace function {{.schema}}.list_limits(count_waiting boolean default true)
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
