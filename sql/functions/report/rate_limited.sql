-- For a worker whose jobs were refused by the service that they call, for example with the status 429 and Retry-After:
-- returns the jobs to the queue as return_job_batch does, so that the attempts do not count, and closes their gates, but not those of
-- all keys of a limit, for retry_in. A job without such gates is itself deferred for retry_in. Returns the new state of each job that
-- it changed, as return_job_batch does.
-- Locks: the job rows by id; queue rows by id.
-- Raises GWWOB if the arrays do not match; GWWEX unless retry_in is positive and at most 1000 years.
create or replace function {{.schema}}.rate_limited_batch(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[],
  retry_in  interval
)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  held    {{.schema}}._gw_ended_job[];
  limited bigint[]; -- those that have a gate to close
begin
  perform {{.schema}}._gw_check_expiry(retry_in);
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  held := {{.schema}}._gw_hold(worker_id, job_ids, leases);
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) > 0 then
    limited := {{.schema}}._gw_close_gates(held, retry_in);
  end if;
  return query
  select r.id, r.state, r.run_at, r.attempts, r.max_attempts
    from (select array_agg(row(h.job_id, h.queue_id, h.held_at)::{{.schema}}._gw_ended_job order by h.job_id) as held, l.is_limited
            from unnest(held) as h
           cross join lateral (select (h.job_id = any (limited)) is true as is_limited) as l
           group by l.is_limited) as o
   cross join lateral {{.schema}}._gw_return_jobs(worker_id, o.held, case when not o.is_limited then retry_in end) as r;
  if (cardinality(held) = cardinality(job_ids)) is not true then
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
end;
$$;

comment on function {{.schema}}.rate_limited_batch(text, bigint[], bigint[], interval) is
  'Returns jobs that a service has refused for now, such as by the status 429: the attempts do not count, and no job of their lanes starts for retry_in. Returns the new state of each job that the worker still held, as return_job_batch does.';

-- The same for one job. Returns whether the worker held the job by this lease, if one is given.
create or replace function {{.schema}}.rate_limited(
  worker_id text,
  job_id    bigint,
  lease     bigint,
  retry_in  interval
)
  returns boolean
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  select count(*) > 0
    from {{.schema}}.rate_limited_batch(worker_id, array[job_id], case when lease is not null then array[lease] end, retry_in)
$$;

comment on function {{.schema}}.rate_limited(text, bigint, bigint, interval) is
  'Returns a job that a service has refused for now, such as by the status 429: the attempt does not count, and no job of its lanes starts for retry_in. Returns whether the worker held the job by this lease.';

-- Closes the gates of these running jobs for some time, but not those of all keys of a limit. Returns the jobs that have such gates.
-- The rows of the gates are changed by the next claim that holds their limits. Its caller forces plans by indexes.
create or replace function {{.schema}}._gw_close_gates(jobs {{.schema}}._gw_ended_job[], retry_in interval)
  returns bigint[] language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  closed bigint[];
begin
  with passed as materialized (
    select o.job_id, g.limit_id, g.id
      from (select j.job_id, j.queue_id as lane_id from unnest(jobs) as j where j.queue_id <= -16
            union all
            select j.job_id, q.lane_id
              from unnest(jobs) as j
             cross join lateral (select l.lane_id from {{.schema}}._gw_queued_lanes as l where l.job_id = j.job_id offset 0) as q
             where j.queue_id > 0) as o
     cross join lateral (select l.gates from {{.schema}}._gw_lanes as l where l.id = o.lane_id offset 0) as l
     cross join unnest(l.gates) as u (gate_id)
     cross join lateral (select g.id, g.limit_id
                           from {{.schema}}._gw_gates as g
                          where g.id = u.gate_id and not g.is_total
                         offset 0) as g
  ), told as (
    insert into {{.schema}}._gw_gate_ends (limit_id, gate_id, closed_until)
    select p.limit_id, p.id, {{.schema}}._gw_after(clock_timestamp(), retry_in) from passed as p group by p.limit_id, p.id
  )
  select array_agg(distinct p.job_id) into closed from passed as p;
  return closed;
end;
$$;

comment on function {{.schema}}._gw_close_gates({{.schema}}._gw_ended_job[], interval) is
  'Internal: closes the gates of these running jobs for some time. Returns the jobs that have such gates.';
