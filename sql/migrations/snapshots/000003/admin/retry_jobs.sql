-- Makes these jobs due now, and returns them. Failed jobs get all their attempts again; the attempts of the others are
-- unchanged. The function skips running jobs, and jobs that were replaced or removed while they ran, because another
-- job may exist in their place. (reschedule_jobs revives these nevertheless.) After their worker has reported a
-- failure, or after a sweep, they are ordinary failed jobs, and are not skipped.
-- Locks: job rows by id, and the names of the queues of suspects.
create or replace function {{.schema}}.retry_jobs(job_ids bigint[])
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query select j.* from {{.schema}}._gw_retry_jobs(job_ids, null, null) as j;
end;
$$;

comment on function {{.schema}}.retry_jobs(bigint[]) is
  'Makes these jobs due now and returns them; failed jobs get all their attempts again. Running jobs are skipped, and so are jobs that were replaced or removed while they ran, until their worker has reported a failure: after that they are ordinary failed jobs.';

-- Does the same, but the jobs become due one after the other, so that their load does not make a service fail again:
-- the first of the list at starting_at, each further job later by the interval apart.
-- Locks: job rows by id.
-- Raises GWOIV (interval).
create or replace function {{.schema}}.redrive_jobs(
  job_ids     bigint[],
  apart       interval,
  starting_at timestamptz default now()
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_interval('apart', apart, true);
  return query select j.* from {{.schema}}._gw_retry_jobs(job_ids, apart, coalesce(starting_at, now())) as j;
end;
$$;

comment on function {{.schema}}.redrive_jobs(bigint[], interval, timestamptz) is
  'Makes these jobs due one after the other and returns them, in all other respects as retry_jobs(). apart: the time between two jobs, in the order of the list. starting_at: when the first one is due, default now.';

-- Makes these jobs due, for retry_jobs and redrive_jobs, which leave the settings of the planner to it. Without the
-- times the jobs are due now.
create or replace function {{.schema}}._gw_retry_jobs(job_ids bigint[], apart interval, starting_at timestamptz)
  returns setof {{.schema}}._private_jobs language plpgsql set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set jit = off
as $$
declare
  ready   bigint;
  ids     bigint[]; -- ascending
  befores bigint[]; -- the place of each in the list
begin
  select array_agg(w.id order by w.id), array_agg(w.before order by w.id)
    into ids, befores
    from (select u.id, min(u.place) - 1 as before from unnest(job_ids) with ordinality as u (id, place) where u.id is not null group by u.id) as w;
  perform from {{.schema}}._private_jobs as j
    where j.id = any (ids) and j.locked_at is null and j.attempts <= j.max_attempts
    order by j.id for update;
  return query
  update {{.schema}}._private_jobs as j
     set job_queue_id = case when j.job_queue_id < 0 then {{.schema}}._gw_unheld(j.job_queue_id, j.id) else j.job_queue_id end,
         run_at       = case when apart is not null then starting_at + befores[width_bucket(j.id, ids)] * apart
                             when j.attempts < j.max_attempts then least(j.run_at, now())
                             else now() end,
         attempts     = case when j.attempts < j.max_attempts then j.attempts else 0 end,
         updated_at   = now()
   where j.id = any (ids) and j.locked_at is null and j.attempts <= j.max_attempts
  returning j.*;
  get diagnostics ready = row_count;
  if ready > 0 then
    perform {{.schema}}._gw_record_act('retry', ready, 'one every ' || apart, job_ids);
    perform {{.schema}}._gw_wake(ready);
  end if;
end;
$$;

comment on function {{.schema}}._gw_retry_jobs(bigint[], interval, timestamptz) is 'Internal: makes these jobs due, for retry_jobs and redrive_jobs, which leave the settings of the planner to it.';
