-- Frees jobs and queues that their owner has held for longer than expiry, and returns the number of jobs. They may run
-- again at once; the attempt counts. If a job lost its last attempt this way, last_error has the reason. A job that a
-- trigger refuses to free stays locked, and the function raises a warning. A retired job (see _gw_retire) that a Node
-- worker has unlocked gets attempts = max_attempts, which Graphile Worker's clean-up looks for.
-- For owners that are not registered, such as Node workers, the expiry is at least four hours. A registered owner that
-- was seen within the setting dead_after is alive and keeps its locks without limit.
-- A queue that has been locked for longer than dead_after although none of its jobs is, because the row of its running job
-- was deleted by hand, is freed whoever holds it. A paused queue stays locked by its pause.
-- Locks: job rows by id, then queue rows by id; skips rows that other transactions have locked.
-- Raises GWWEX unless expiry is positive and at most 1000 years.
create or replace function {{.schema}}.reset_stale_locks(
  expiry interval default '4 hours'
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  dead_after interval := {{.schema}}.setting('dead_after')::interval;
  job_ids    bigint[];
  retired    bigint[];
  running    integer[]; -- the queues with a locked job
  freed      bigint   := 0;
begin
  perform {{.schema}}._gw_check_expiry(expiry);

  -- One look at all the jobs.
  select array_agg(j.id order by j.id) filter (where {{.schema}}._gw_is_stale(j.locked_at, w.id, w.last_seen_at, expiry, dead_after)),
         array_agg(j.id order by j.id) filter (where j.locked_at is null),
         array_agg(j.job_queue_id) filter (where j.locked_at is not null and j.job_queue_id > 0)
    into job_ids, retired, running
    from {{.schema}}._private_jobs as j
    left join {{.schema}}._gw_workers as w on w.id = j.locked_by
   where j.locked_at is not null or j.attempts > j.max_attempts;
  if job_ids is not null then
    select f.freed into freed from {{.schema}}._gw_free_jobs(job_ids, null, expiry) as f;
  end if;
  perform {{.schema}}._gw_reset_retired(retired);
  perform {{.schema}}._gw_reset_queues(expiry, running);
  if freed > 0 then
    perform {{.schema}}._gw_wake(freed);
  end if;
  return freed;
end;
$$;

comment on function {{.schema}}.reset_stale_locks(interval) is
  'Frees jobs and queues locked for longer than expiry and returns the number of jobs. Owners that are not registered keep their locks for at least four hours; registered owners that were seen within the setting dead_after keep them. A job that a trigger refuses to free stays locked. A queue that is locked although none of its jobs is, for longer than dead_after, is freed whoever holds it.';
