-- For a worker whose jobs were refused by the service that they call, for example with the status 429 and Retry-After:
-- returns the jobs to the queue as return_job_batch does, so that the attempts do not count, and closes their lanes for
-- retry_in. A job without limits is itself deferred for retry_in. Returns the new state of each job that it changed, as
-- return_job_batch does.
-- Locks: the job rows by id; lanes by id, which claims hold briefly; queue rows by id.
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
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
#variable_conflict use_variable
declare
  back     record;
  lane_ids integer[];
begin
  perform {{.schema}}._gw_check_expiry(retry_in);
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  for back in
    select r.*
      from (select array_agg(u.job_id) as ids, array_agg(u.lease) filter (where leases is not null) as leases,
                   j.job_queue_id < 0 as is_limited
              from unnest(job_ids, leases) as u (job_id, lease)
              join {{.schema}}._private_jobs as j on j.id = u.job_id
             group by j.job_queue_id < 0) as o
     cross join lateral {{.schema}}.return_job_batch(
                          worker_id, o.ids, o.leases, case when o.is_limited is not true then retry_in end) as r
  loop
    id := back.id;
    state := back.state;
    run_at := back.run_at;
    attempts := back.attempts;
    max_attempts := back.max_attempts;
    return next;
    lane_ids := lane_ids || (
      select g.lanes
        from {{.schema}}._private_jobs as j
        join {{.schema}}._gw_groups as g on g.id = j.job_queue_id
       where j.id = back.id);
  end loop;
  perform from {{.schema}}._gw_lanes as l where l.id = any (lane_ids) order by l.id for no key update;
  update {{.schema}}._gw_lanes as l
     set closed_until = greatest(l.closed_until, clock_timestamp() + retry_in)
   where l.id = any (lane_ids) and not l.is_total;
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
