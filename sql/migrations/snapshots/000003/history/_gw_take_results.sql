-- For complete_job and complete_job_batch: stores the results of jobs that are about to be completed, where somebody
-- asked for them. See _gw_store_results.
-- Locks: the job rows, by id.
-- Raises GWWOB if the arrays do not match.
create or replace function {{.schema}}._gw_take_results(
  worker_id text, job_ids bigint[], leases bigint[], results json[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  wanted record;
begin
  perform {{.schema}}._gw_check_outcomes(job_ids, leases);
  if cardinality(results) <> cardinality(job_ids) then
    raise exception 'There must be one result for each job: % job ids, % results.',
        cardinality(job_ids), cardinality(results)
      using errcode = 'GWWOB';
  elsif not {{.schema}}._gw_keeps() then
    return;
  end if;

  perform from {{.schema}}._private_jobs as j
    where j.id = any (job_ids) and j.locked_by = worker_id
    order by j.id for update;
  select array_agg(u.id) as ids, array_agg(u.result) as results
    into wanted
    from unnest(job_ids, leases, results, {{.schema}}._gw_wanted_results(job_ids)) as u (id, lease, result, is_wanted)
   where u.is_wanted and u.result is not null
     and exists (select
                   from {{.schema}}._private_jobs as j
                  where j.id = u.id and j.locked_by = worker_id and {{.schema}}._gw_is_held(j.locked_at, u.lease));
  perform {{.schema}}._gw_store_results(wanted.ids, wanted.results) where wanted.ids is not null;
end;
$$;

comment on function {{.schema}}._gw_take_results(text, bigint[], bigint[], json[]) is 'Internal: for complete_job and complete_job_batch: stores the results of jobs that are about to be completed, where somebody asked for them.';
