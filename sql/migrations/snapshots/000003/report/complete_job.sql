-- Completes a job: deletes its row and frees its queue, if the claim holds no other job of it.
-- Acts only while the worker holds the job (by this lease, if one is given). Returns whether it did.
-- Locks: the job row, then its queue row.
-- result is kept if expect_result asked for it, or if the task keeps results; otherwise it is ignored.
-- Raises GWWOB if job_id is null, GWWRS if the result is too large.
create or replace function {{.schema}}.complete_job(
  worker_id text,
  job_id    bigint,
  lease     bigint default null,
  result    json   default null
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  ended {{.schema}}._gw_ended_job;
begin
  if job_id is null then
    perform {{.schema}}._gw_check_outcomes(array[job_id], null);
  end if;
  if result is not null then
    perform {{.schema}}._gw_take_results(worker_id, array[job_id], case when lease is not null then array[lease] end, array[result]);
  end if;
  delete from {{.schema}}._private_jobs as j
   where j.id = job_id
     and j.locked_by = worker_id
     and {{.schema}}._gw_is_held(j.locked_at, lease)
  returning j.id, j.job_queue_id, j.locked_at into ended;
  if not found then
    perform {{.schema}}._gw_wake_for(array[job_id]);
    return false;
  end if;
  if ended.queue_id is not null then
    perform {{.schema}}._gw_release(worker_id, array[ended], 'ended');
  end if;
  return true;
end;
$$;

comment on function {{.schema}}.complete_job(text, bigint, bigint, json) is
  'Completes a job: deletes it and frees its queue. Acts only while the worker holds the job (by this lease, if one is given) and returns whether it did. result: kept where it was asked for; see expect_result() and keep_task().';
