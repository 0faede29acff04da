-- Removes the key of a job and makes sure that the job never runs again.
-- A running job may still be returned by its worker, ours or Node's, which lowers attempts by one. So a running job
-- gets attempts = max_attempts + 1: one return leaves it failed, and there is no second return, because that needs
-- another claim. (32767 has no successor in a smallint; there max_attempts is lowered instead.)
-- The caller holds the row's lock.
create or replace function {{.schema}}._gw_retire(job_id bigint)
  returns {{.schema}}._private_jobs language sql set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
  update {{.schema}}._private_jobs as j
     set key          = null,
         max_attempts = least(j.max_attempts, 32766),
         attempts     = least(j.max_attempts, 32766) + case when j.locked_at is null then 0 else 1 end,
         updated_at   = now()
   where j.id = job_id
  returning j.*
$$;

comment on function {{.schema}}._gw_retire(bigint) is 'Internal: removes the key of a job and makes sure that the job never runs again.';
