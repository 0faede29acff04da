-- Starts the jobs for get_job_batch in the cases that its own query does not cover, and returns their ids. A worker that runs a suspect
-- alone gets none.
-- Locks: as get_job_batch says.
create or replace function {{.schema}}._gw_claim_others(claim {{.schema}}._gw_claim)
  returns bigint[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  kinds record := {{.schema}}._gw_kinds_of_jobs(claim.worker_id);
begin
  if kinds.runs_alone then
    return null;
  elsif kinds.limited then
    perform {{.schema}}._gw_end_queue_pauses();
    claim.task_ids := {{.schema}}._gw_served_tasks(claim);
    return {{.schema}}._gw_claim_limited(claim);
  end if;
  return {{.schema}}._gw_claim_unlimited(claim, kinds.queued);
end;
$$;

comment on function {{.schema}}._gw_claim_others({{.schema}}._gw_claim) is
  'Internal: starts the jobs for get_job_batch in the cases that its own query does not cover.';

-- Searches for jobs of tasks without limits, starts them, and returns their ids. queued: whether jobs are in named queues.
-- Locks: as get_job_batch says.
create or replace function {{.schema}}._gw_claim_unlimited(claim {{.schema}}._gw_claim, queued boolean)
  returns bigint[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  places  tid[] := {{.schema}}._gw_lock_jobs(claim, queued);
  job_ids bigint[];
begin
  with started as (
    update {{.schema}}._private_jobs as j
       set attempts = j.attempts + 1, locked_by = claim.worker_id, locked_at = claim.claimed_at
     where j.ctid = any (places)
    returning j.id
  )
  select array_agg(s.id) into job_ids from started as s;
  return job_ids;
end;
$$;

comment on function {{.schema}}._gw_claim_unlimited({{.schema}}._gw_claim, boolean) is
  'Internal: searches for jobs of tasks without limits, and starts them.';
