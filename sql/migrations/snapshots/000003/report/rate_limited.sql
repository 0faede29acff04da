-- For a worker whose jobs were refused by the service that they call, for example with the status 429 and Retry-After:
-- returns the jobs to the queue as return_job_batch does, so that the attempts do not count, and closes their gates,
-- but not those of all keys of a limit, for retry_in. A job without such gates is itself deferred for retry_in. Returns
-- the new state of each job that it changed, as return_job_batch does.
-- Locks: the job rows by id; queue rows by id.
-- Raises GWWOB if the arrays do not match; GWWEX unless retry_in is positive and at most 1000 years.
create or replace function {{.schema}}.rate_limited_batch(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[],
  retry_in  interval
)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  held    {{.schema}}._gw_ended_job[];
  limited bigint[]; -- those that have a gate to close
begin
  perform {{.schema}}._gw_check_expiry(retry_in);
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  held := {{.schema}}._gw_hold(worker_id, job_ids, leases);
  with passed as materialized (
    select o.job_id, g.limit_id, g.id
      from (select j.job_id, j.queue_id as lane_id from unnest(held) as j where j.queue_id <= -16
            union all
            select j.job_id, q.lane_id
              from unnest(held) as j
             cross join lateral (select l.lane_id from {{.schema}}._gw_queued_lanes as l where l.job_id = j.job_id offset 0) as q
             where j.queue_id > 0) as o
     cross join lateral (select l.gates from {{.schema}}._gw_lanes as l where l.id = o.lane_id offset 0) as l
     cross join unnest(l.gates) as u (gate_id)
     cross join lateral (select g.id, g.limit_id
                           from {{.schema}}._gw_gates as g
                          where g.id = u.gate_id and not g.is_total
                         offset 0) as g
  ), told as ( -- the next claim that holds the limits changes the gates
    insert into {{.schema}}._gw_gate_ends (limit_id, gate_id, closed_until)
    select p.limit_id, p.id, {{.schema}}._gw_after(clock_timestamp(), retry_in) from passed as p group by p.limit_id, p.id
  )
  select coalesce(array_agg(distinct p.job_id), '{}') into limited from passed as p;
  return query
  select b.id, b.state, b.run_at, b.attempts, b.max_attempts
    from (select u.id = any (limited) as is_limited,
                 array_agg(row(u.id, u.lease, null, case when u.id <> all (limited) then {{.schema}}._gw_after(now(), retry_in) end,
                               null, true, false)::{{.schema}}._gw_outcome) as outcomes
            from unnest(job_ids, leases) as u (id, lease)
           group by 1) as o
   cross join lateral {{.schema}}._gw_put_back(worker_id, case when o.is_limited then 'returned' else 'snoozed' end, o.outcomes) as b;
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
  returns boolean language sql set search_path = pg_catalog, pg_temp
as $$
  select count(*) > 0
    from {{.schema}}.rate_limited_batch(worker_id, array[job_id], case when lease is not null then array[lease] end, retry_in)
$$;

comment on function {{.schema}}.rate_limited(text, bigint, bigint, interval) is
  'Returns a job that a service has refused for now, such as by the status 429: the attempt does not count, and no job of its lanes starts for retry_in. Returns whether the worker held the job by this lease.';
