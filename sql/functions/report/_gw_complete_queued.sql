-- Completes jobs of one claim as complete_job_batch does, for a worker that completes many jobs of queues. Only jobs that this worker
-- still holds are completed (by the lease, if one is given). Returns their ids.
-- The trigger on freed queues would run once per queue, which costs a third of a queued job. So the trigger is switched
-- off by gw.told, and _gw_release checks all freed queues in one statement. It checks them now, not at the commit, so
-- a worker must call this function in a transaction of its own.
-- Locks: job rows by id, then queue rows by id.
create or replace function {{.schema}}._gw_complete_queued(
  worker_id text,
  job_ids   bigint[],
  lease     bigint
)
  returns bigint[]
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  completed bigint[];
  ended     {{.schema}}._gw_ended_job[];
begin
  with gone as (
    delete from {{.schema}}._private_jobs as j
     where j.id = any (job_ids)
       and j.locked_by = worker_id
       and coalesce((select {{.schema}}._gw_locked_at(lease)), j.locked_at) = j.locked_at
    returning j.id, j.job_queue_id, j.locked_at
  )
  select array_agg(g.id), array_agg(row(g.id, g.job_queue_id, g.locked_at)::{{.schema}}._gw_ended_job) filter (where g.job_queue_id is not null)
    into completed, ended
    from gone as g;
  if ended is not null then
    perform set_config('gw.told', 't', true); -- for the trigger's condition; every update parses it, so it is short
    perform {{.schema}}._gw_release(worker_id, ended, 'ended');
    perform set_config('gw.told', '', true);
  end if;
  return coalesce(completed, '{}');
end;
$$;

comment on function {{.schema}}._gw_complete_queued(text, bigint[], bigint) is
  'Internal: completes jobs of one claim and notifies once for all queues that it frees. Returns the ids of the completed jobs.';
