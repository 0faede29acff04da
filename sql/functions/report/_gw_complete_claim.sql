-- Completes jobs of one claim, or, if lease is null, jobs that the worker holds by any lease: deletes their rows and
-- frees their queues. Returns the ids of the completed jobs, or null if all were completed.
-- at_once: the transaction does nothing else; see _gw_release.
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWOB if an id is null or repeated.
create or replace function {{.schema}}._gw_complete_claim(
  worker_id text, job_ids bigint[], lease bigint, at_once boolean default true)
  returns bigint[] language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  completed bigint[];
  ended     {{.schema}}._gw_ended_job[]; -- those of them that are in queues or lanes
begin
  with gone as (
    delete from {{.schema}}._private_jobs as j
     where j.id = any (job_ids) and j.locked_by = worker_id
       and coalesce((select {{.schema}}._gw_locked_at(lease)), j.locked_at) = j.locked_at
    returning j.id, j.job_queue_id, j.locked_at
  )
  select case when count(*) < cardinality(job_ids) then coalesce(array_agg(g.id), '{}') end,
         array_agg(row(g.id, g.job_queue_id, g.locked_at)::{{.schema}}._gw_ended_job) filter (where g.job_queue_id is not null)
    into completed, ended
    from gone as g;
  if ended is not null then
    perform {{.schema}}._gw_release(worker_id, ended, 'ended', at_once);
  end if;
  if completed is not null then
    perform {{.schema}}._gw_check_outcomes(job_ids, null); -- some are no longer held, or the ids are invalid
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
  return completed;
end;
$$;
