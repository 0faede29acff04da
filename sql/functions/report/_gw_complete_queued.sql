-- Completes jobs of one claim as complete_job_batch does, for a worker that completes many jobs of queues. Only jobs that this worker
-- still holds are completed (by the lease, if one is given). Returns their ids.
-- The trigger on freed queues would run once per queue, which costs a third of a queued job. So the trigger is switched
-- off by gw.told, and _gw_release_queues checks all freed queues in one statement. It checks them now, not at the commit, so
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
as $$
declare
  completed bigint[];
begin
  perform set_config('gw.told', 't', true); -- for the trigger's condition; every update parses it, so it is short
  completed := array(
    select {{.schema}}.complete_job_batch(worker_id, job_ids, case when lease is not null then array_fill(lease, array[cardinality(job_ids)]) end));
  perform set_config('gw.told', '', true);
  return completed;
end;
$$;

comment on function {{.schema}}._gw_complete_queued(text, bigint[], bigint) is
  'Internal: completes jobs of one claim and notifies once for all queues that it frees. Returns the ids of the completed jobs.';
