-- Frees every job and queue that these workers hold. It is only for workers that are known to be dead: the jobs of a
-- worker that is alive would run a second time. The attempts count, except of jobs that have not started.
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWID if one of them is pause, which stands for the pauses of queues.
create or replace function {{.schema}}.force_unlock_workers(worker_ids text[])
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  job_ids   bigint[];
  held_ids  bigint[];
  unstarted bigint[];
  ended     {{.schema}}._gw_ended_job[];
  freed     bigint;
  queue_ids integer[];
begin
  perform {{.schema}}._gw_check_worker_id('pause') where 'pause' = any (worker_ids);
  job_ids := array(select j.id from {{.schema}}._private_jobs as j where j.locked_by = any (worker_ids));
  select array_agg(row(h.id, h.job_queue_id, h.locked_at)::{{.schema}}._gw_ended_job)
    into ended
    from (select j.id, j.job_queue_id, j.locked_at
            from {{.schema}}._private_jobs as j
           where j.id = any (job_ids) and j.locked_by = any (worker_ids)
           order by j.id
             for update) as h;
  -- A separate statement, after the locks: which jobs have not started depends on outcomes for which it has waited.
  unstarted := {{.schema}}._gw_unstarted_jobs(job_ids);
  if {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts('recovered', worker_ids, job_ids,
                                          details => array['The worker was unlocked by force.']);
  end if;
  held_ids := array(select e.job_id from unnest(ended) as e);
  update {{.schema}}._private_jobs as j
     set attempts     = case when j.id = any (unstarted) then greatest(0, j.attempts - 1)
                             else least(j.attempts, j.max_attempts) end,
         job_queue_id = case when j.job_queue_id < 0 then -1 else j.job_queue_id end,
         locked_at    = null,
         locked_by    = null
   where j.id = any (held_ids);
  get diagnostics freed = row_count;

  queue_ids := array(
    select q.id
      from {{.schema}}._private_job_queues as q
     where q.locked_by = any (worker_ids)
     order by q.id
       for no key update);
  if queue_ids <> '{}' then
    update {{.schema}}._private_job_queues as q set locked_at = null, locked_by = null where q.id = any (queue_ids);
    perform {{.schema}}._gw_take_paused(queue_ids);
  end if;
  perform {{.schema}}._gw_release_gates(ended, 'ended');
  perform {{.schema}}._gw_suspect_again(worker_ids, held_ids);
  perform {{.schema}}._gw_record_act('unlock', freed, array_to_string(worker_ids, ', '), held_ids)
    where freed > 0 or queue_ids <> '{}';
  if freed > 0 then
    perform {{.schema}}._gw_wake(freed);
  else
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
end;
$$;

comment on function {{.schema}}.force_unlock_workers(text[]) is
  'Frees every job and queue that these workers hold. Only for workers that are known to be dead: the jobs of a worker that is alive would run a second time.';
