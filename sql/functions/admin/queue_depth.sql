-- Returns the number of jobs in each state (see job_state), and how long the oldest ready job has been due, for
-- dashboards and scalers.
-- The cost is bounded: of a table with more than pages pages it reads a sample of half that size, and is_estimate is
-- true. scale: for how many jobs each counted one stands, 1 if all were counted. So a 0 in a sample means fewer than
-- some three times scale, and another number n may be wrong by twice the root of n times scale, more if such jobs lie
-- together; oldest_ready does not depend on it.
-- Raises GWILM (pages is negative).
create or replace function {{.schema}}.queue_depth(pages bigint default 20000)
  returns table (
    ready        bigint,
    scheduled    bigint,
    running      bigint,
    failed       bigint,
    oldest_ready interval,
    is_estimate  boolean,
    scale        double precision
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  select s.ready, s.scheduled, s.running, s.failed, now() - {{.schema}}._gw_oldest_ready(), s.scale > 1, s.scale
    from {{.schema}}._gw_count_jobs('all', pages) as s;
end;
$$;

comment on function {{.schema}}.queue_depth(bigint) is
  'Returns how many jobs are ready, scheduled, running and permanently failed, and how long the oldest ready job has been due (null if none is ready). Of a table with more than pages pages it reads a sample of half that size, and is_estimate is true; scale: for how many jobs each counted one stands.';

-- Returns the priorities of the waiting jobs of a kind, due or not, the 100 most urgent ones at most. kind: plain,
-- queued (in named queues), incoming (of tasks with limits, at which no claim has looked), or held. The index has the
-- first job of each priority in front, so the function steps from priority to priority.
create or replace function {{.schema}}._gw_waiting_priorities(kind text)
  returns setof smallint language plpgsql stable rows 10 set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  last integer := -32769;
begin
  for step in 1..100 loop
    if kind = 'plain' then
      last := (select j.priority from {{.schema}}._private_jobs as j
                where j.is_available and j.job_queue_id is null and j.priority > last order by j.priority limit 1);
    elsif kind = 'queued' then
      last := (select j.priority from {{.schema}}._private_jobs as j
                where j.is_available and j.job_queue_id > 0 and j.priority > last order by j.priority limit 1);
    else
      last := (select j.priority from {{.schema}}._private_jobs as j
                where j.is_available and j.job_queue_id = case kind when 'incoming' then -1 else -2 end
                  and j.priority > last
                order by j.priority limit 1);
    end if;
    exit when last is null;
    return next last::smallint;
  end loop;
end;
$$;

-- Returns the earliest run_at of the ready jobs; null if none is ready. A run_at of -infinity does not count. In each
-- priority of the 100 most urgent ones, and in each lane, the index has it first. Of lanes with jobs of several
-- priorities it knows the most urgent.
create or replace function {{.schema}}._gw_oldest_ready()
  returns timestamptz language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  return (
    select min(o.run_at)
      from (select j.run_at
              from {{.schema}}._gw_waiting_priorities('plain') as p (priority)
             cross join lateral (
                    select j.run_at from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id is null and j.priority = p.priority
                       and j.run_at > '-infinity'
                     order by j.run_at limit 1) as j
            union all
            select j.run_at
              from {{.schema}}._gw_waiting_priorities('queued') as p (priority)
             cross join lateral (
                    select j.run_at from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id > 0 and j.priority = p.priority and j.run_at > '-infinity'
                     order by j.run_at limit 1) as j
            union all
            select j.run_at
              from (values ('incoming', -1), ('held', -2)) as k (kind, id)
             cross join lateral {{.schema}}._gw_waiting_priorities(k.kind) as p (priority)
             cross join lateral (
                    select j.run_at from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id = k.id and j.priority = p.priority
                       and j.run_at > '-infinity'
                     order by j.run_at limit 1) as j
            union all
            select j.run_at
              from (select l.id
                      from {{.schema}}._gw_lanes as l
                     where l.gate is distinct from 0
                     order by l.run_at
                     limit 1000) as l
             cross join lateral (
                    select j.run_at from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id = l.id and j.run_at > '-infinity'
                     order by j.priority, j.run_at limit 1) as j) as o
     where o.run_at <= now());
end;
$$;
