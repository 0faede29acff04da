-- Frees every job and queue that these workers hold. It is only for workers that are known to be dead: the jobs of a
-- worker that is alive would run a second time. The attempts count, except of jobs that have not started.
-- Locks: job rows by id, then queue rows by id.
create or replace function {{.schema}}.force_unlock_workers(
  worker_ids text[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  job_ids   bigint[];
  unstarted bigint[];
  freed     bigint;
  limited   bigint[];
  queues    bigint;
begin
  job_ids := array(select j.id from {{.schema}}._private_jobs as j where j.locked_by = any (worker_ids));
  perform from {{.schema}}._private_jobs as j where j.id = any (job_ids) order by j.id for update;
  -- A separate statement, after the locks: which jobs have not started depends on outcomes for which it has waited.
  unstarted := {{.schema}}._gw_unstarted_jobs(job_ids);
  if {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts('recovered', worker_ids, job_ids, details => array['The worker was unlocked by force.']);
  end if;
  with freed as (
    update {{.schema}}._private_jobs as j
       set attempts  = case when j.id = any (unstarted) then greatest(0, j.attempts - 1) else least(j.attempts, j.max_attempts) end,
           locked_at = null,
           locked_by = null
     where j.id = any (job_ids) and j.locked_by = any (worker_ids)
    returning j.id, j.job_queue_id
  )
  select count(*), array_agg(f.id) filter (where f.job_queue_id < 0) into freed, limited from freed as f;

  with held as (
    select q.id from {{.schema}}._private_job_queues as q where q.locked_by = any (worker_ids) order by q.id for no key update
  )
  update {{.schema}}._private_job_queues as q
     set locked_at = null, locked_by = null
    from held
   where q.id = held.id;
  get diagnostics queues = row_count;

  if limited is not null then
    perform {{.schema}}._gw_leave_lanes(limited);
  end if;
  if freed > 0 or queues > 0 then
    perform {{.schema}}._gw_record_act('unlock', freed, array_to_string(worker_ids, ', '));
  end if;
  if freed > 0 then
    perform {{.schema}}._gw_wake(freed);
  else
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
end;
$$;

comment on function {{.schema}}.force_unlock_workers(text[]) is
  'Frees every job and queue that these workers hold. Only for workers that are known to be dead: the jobs of a worker that is alive would run a second time.';
