-- Completes jobs: deletes their rows and frees their queues. Returns the ids of the completed jobs. This worker no
-- longer held the jobs that are missing (by the lease beside them, if leases are given).
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWOB if the arrays do not match.
create or replace function {{.schema}}.complete_job_batch(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[] default null,
  results   json[]   default null
)
  returns setof bigint language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  completed bigint[];
  ended     {{.schema}}._gw_ended_job[];
begin
  perform {{.schema}}._gw_take_results(worker_id, job_ids, leases, results) where results is not null;
  if leases is null or cardinality(leases) = cardinality(job_ids) and leases[1] = all (leases) then
    completed := coalesce({{.schema}}._gw_complete_claim(worker_id, job_ids, leases[1], at_once => false), job_ids);
  else -- jobs of several claims, or invalid arguments
    perform {{.schema}}._gw_check_outcomes(job_ids, leases);
    ended := {{.schema}}._gw_hold(worker_id, job_ids, leases);
    completed := array(select e.job_id from unnest(ended) as e);
    delete from {{.schema}}._private_jobs as j where j.id = any (completed);
    perform {{.schema}}._gw_release(worker_id, ended, 'ended') where ended <> '{}';
    perform {{.schema}}._gw_wake_for(job_ids) where cardinality(completed) < cardinality(job_ids);
  end if;
  return query select u.id from unnest(completed) as u (id);
end;
$$;

comment on function {{.schema}}.complete_job_batch(text, bigint[], bigint[], json[]) is
  'Completes jobs: deletes them and frees their queues. Returns the ids of the jobs that the worker still held, each by the lease at the same position if leases are given. results: one for each job or null, kept where they were asked for; see expect_result() and keep_task().';
