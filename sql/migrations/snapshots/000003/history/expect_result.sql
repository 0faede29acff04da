-- Waiting for jobs. Whoever waits for a job, or wants its result, asks for it by a row of _gw_expected, in which the
-- end of the job is recorded, whether its task is kept or not.

-- Asks for the end and the result of a job. A producer calls it in the transaction that adds the job, so that nothing
-- is missed.
-- kept_for: how long the answer can be read by job_results; from now on.
-- The call has no effect for a job that does not exist, and, if the caller may not see the payloads of all jobs, for
-- one that this transaction has not added.
-- Raises GWOIV (kept_for), GWOJN (job_id is null).
create or replace function {{.schema}}.expect_result(
  job_id   bigint,
  kept_for interval default '1 day'
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_interval('kept_for', kept_for, true);
  if job_id is null then
    raise exception 'job_id must be the id of a job, not null.' using errcode = 'GWOJN';
  end if;
  insert into {{.schema}}._gw_expected as e (job_id, kept_until)
  select j.id, {{.schema}}._gw_after(now(), kept_for)
    from {{.schema}}._private_jobs as j
   where j.id = expect_result.job_id and ({{.schema}}._gw_sees_data() or {{.schema}}._gw_is_added_here(j.xmin))
      on conflict on constraint _gw_expected_pkey do update
     set kept_until = greatest(e.kept_until, excluded.kept_until);
end;
$$;

comment on function {{.schema}}.expect_result(bigint, interval) is
  'Asks for the end and the result of a job, to be read by job_results() for kept_for. A producer calls it in the transaction that adds the job.';

-- Returns whether a row that this transaction sees was written by it, which is so while the row's writer is in
-- progress. A subtransaction has a number of its own, above that of the transaction.
create or replace function {{.schema}}._gw_is_added_here(writer xid)
  returns boolean language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  own   constant bigint := txid_current_if_assigned();
  above constant bigint := (writer::text::bigint - own % 4294967296 + 4294967296) % 4294967296;
begin
  return above < 2147483648 and txid_status(own + above) = 'in progress';
exception when invalid_parameter_value then
  return false; -- an old row
end;
$$;

comment on function {{.schema}}._gw_is_added_here(xid) is 'Internal: returns whether a row that this transaction sees was written by it, which is so while the row''s writer is in progress.';

-- Asks to be notified of the ends of jobs, on the channel jobs:end, with the id of the job, as expect_result does for
-- those that exist. Returns false if notifications are not sent yet, because open transactions have changed jobs; ask
-- job_results again from time to time in any case.
-- Only a role with the rights of the owner makes sure of it itself; for others the next heartbeat of a worker does: the
-- lock that it needs lasts to the end of the transaction, which a stranger's may not.
-- Locks: for such a role, what _gw_watch_ends_aside locks.
create or replace function {{.schema}}.await_jobs(
  job_ids  bigint[],
  kept_for interval default '1 day'
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_interval('kept_for', kept_for, true);
  insert into {{.schema}}._gw_expected (job_id, kept_until, notifies)
  select j.id, {{.schema}}._gw_after(now(), kept_for), true
    from {{.schema}}._private_jobs as j
   where j.id = any (job_ids)
   order by j.id
      on conflict on constraint _gw_expected_pkey do nothing; -- an update would lock the row, for which the end of the job would wait
  if pg_has_role(session_user, (select c.relowner from pg_class as c where c.oid = '{{ replace "'" "''" .schema }}._private_jobs'::regclass), 'usage') then
    return {{.schema}}._gw_watch_ends_aside();
  end if;
  return {{.schema}}._gw_watches_ends();
end;
$$;

comment on function {{.schema}}.await_jobs(bigint[], interval) is
  'Asks to be notified of the ends of jobs, on the channel jobs:end, with the id of the job. Returns false if notifications are not sent yet; call job_results() again from time to time in any case.';

-- Returns those of these jobs that have ended, and how: completed, removed, permanently_failed, or gone (completed or
-- removed, or never added: nobody asked). A failed job that has attempts left has not ended. error: the last error of a
-- failed job.
-- result: what the worker reported, if expect_result asked for it or the task keeps results.
create or replace function {{.schema}}.job_results(job_ids bigint[])
  returns table (id bigint, state text, error text, result json, ended_at timestamptz)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off
as $$
begin
  return query
  select w.id,
         case when j.id is not null then 'permanently_failed'
              when e.outcome is not null then e.outcome
              when e.result is not null then 'completed'
              else coalesce(h.outcome, 'gone') end,
         case when j.id is not null then j.last_error else h.error end,
         case when j.id is null then coalesce(e.result, h.result) end,
         case when j.id is null then coalesce(e.ended_at, h.ended_at) end
    from (select distinct u.id from unnest(job_ids) as u (id) where u.id is not null) as w
    left join {{.schema}}._private_jobs as j on j.id = w.id
    left join {{.schema}}._gw_expected as e on e.job_id = w.id
    left join lateral (
         select l.outcome, l.error, l.result, l.ended_at
           from {{.schema}}.job_history(w.id) as l
          where j.id is null and e.outcome is null
          order by l.ended_at desc
          limit 1) as h on true
   where j.id is null or j.locked_at is null and j.attempts >= j.max_attempts
   order by w.id;
end;
$$;

comment on function {{.schema}}.job_results(bigint[]) is
  'Returns those of these jobs that have ended, and how: completed, removed, permanently_failed, or gone if nobody asked for the end of the job and its task is not kept. error: the last error of a failed job. result: what the worker reported, if it was asked for. A job that waits or runs is missing.';
