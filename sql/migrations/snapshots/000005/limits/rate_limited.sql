-- For a worker whose job was refused by the service that it calls, such as by the status 429 with Retry-After: returns the
-- job as return_job does, so that the attempt does not count, and starts no other job of its lanes for retry_in. A job
-- without limits does not start before then itself. Returns whether the worker held the job by this lease, if one is given.
-- Locks: the job row, its queue row; lanes by id, which claims hold briefly.
-- Raises GWWOB if job_id is null; GWWEX unless retry_in is positive and at most 1000 years.
create or replace function {{.schema}}.rate_limited(
  worker_id text,
  job_id    bigint,
  lease     bigint,
  retry_in  interval
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  lane_ids integer[];
begin
  perform {{.schema}}._gw_check_expiry(retry_in);
  select g.lanes
    into lane_ids
    from {{.schema}}._private_jobs as j
    join {{.schema}}._gw_groups as g on g.id = j.job_queue_id
   where j.id = job_id and j.locked_by = worker_id;
  perform from {{.schema}}.return_job_batch(
                 worker_id, array[job_id], case when lease is not null then array[lease] end,
                 case when lane_ids is null then retry_in end);
  if not found then
    return false;
  end if;
  perform from {{.schema}}._gw_lanes as l where l.id = any (lane_ids) order by l.id for no key update;
  update {{.schema}}._gw_lanes as l
     set closed_until = greatest(l.closed_until, clock_timestamp() + retry_in)
   where l.id = any (lane_ids) and not l.is_total;
  return true;
end;
$$;

comment on function {{.schema}}.rate_limited(text, bigint, bigint, interval) is
  'Returns a job that a service has refused for now, such as by the status 429: the attempt does not count, and no job of its lanes starts for retry_in. Returns whether the worker held the job by this lease.';
