-- Frees jobs and queues that their owner has held for longer than expiry, and returns the number of jobs. They may run
-- again at once; the attempt counts. If a job lost its last attempt this way, last_error has the reason. A job that a
-- trigger refuses to free stays locked, and so does its queue; the function raises a warning. A retired job (see
-- _gw_retire) that a Node worker has unlocked gets attempts = max_attempts, which Graphile Worker's clean-up looks for.
-- For owners that are not registered, such as Node workers, the expiry is at least four hours. A registered owner that
-- was seen within the setting dead_after is alive and keeps its locks without limit.
-- A queue that has been locked for longer than dead_after although none of its jobs is, because the row of its running
-- job was deleted by hand, is freed whoever holds it. A paused queue stays locked by its pause.
-- Locks: rows of workers seen in the future; job rows by id, then their queue rows; other queue rows by id; skips rows
-- that other transactions have locked.
-- Raises GWWEX unless expiry is positive and at most 1000 years.
create or replace function {{.schema}}.reset_stale_locks(expiry interval default '4 hours')
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  dead_after interval := {{.schema}}.setting('dead_after')::interval;
  job_ids    bigint[];
  running    integer[]; -- the queues with a job whose lock stays
  queue_ids  integer[];
  freed      bigint;
begin
  perform {{.schema}}._gw_check_expiry(expiry);
  -- A sign of life in the future, of a clock that was ahead, counts as one of now.
  update {{.schema}}._gw_workers as w
     set last_seen_at = clock_timestamp(), beating_since = least(w.beating_since, clock_timestamp())
   where w.id = any (array(select l.id from {{.schema}}._gw_workers as l
                            where l.last_seen_at > clock_timestamp() + interval '1 second'
                            order by l.id
                              for update skip locked));

  -- One look at all the jobs.
  select array_agg(j.id order by j.id) filter (where j.locked_at is null or j.is_stale),
         coalesce(array_agg(j.job_queue_id) filter (where not j.is_stale and j.job_queue_id > 0), '{}')
    into job_ids, running
    from (select j.id, j.locked_at, j.job_queue_id, {{.schema}}._gw_is_stale(j.locked_at, w.id, w.last_seen_at, expiry, dead_after) as is_stale
            from {{.schema}}._private_jobs as j
            left join {{.schema}}._gw_workers as w on w.id = j.locked_by
           where j.locked_at is not null or j.attempts > j.max_attempts) as j;
  select f.freed into freed from {{.schema}}._gw_free_jobs(job_ids, null, expiry) as f;

  queue_ids := array(
    select q.id
      from {{.schema}}._private_job_queues as q
     where q.locked_at not between now() - dead_after and clock_timestamp()
       and q.locked_by is distinct from 'pause' -- whose lock is never stale
       and q.id <> all (running)
     order by q.id
       for no key update skip locked);
  -- A claim locks the queue and its job in one transaction. So once the row of the queue is locked here, a later
  -- statement sees the job of whoever holds the queue.
  update {{.schema}}._private_job_queues as q
     set locked_at = null, locked_by = null
   where q.id = any (queue_ids) and q.id <> all (array(select j.job_queue_id
                                                            from {{.schema}}._private_jobs as j
                                                           where j.locked_at is not null and j.job_queue_id = any (queue_ids)));
  perform {{.schema}}._gw_take_paused(queue_ids);
  return freed;
end;
$$;

comment on function {{.schema}}.reset_stale_locks(interval) is
  'Frees jobs and queues locked for longer than expiry and returns the number of jobs. Owners that are not registered keep their locks for at least four hours; registered owners that were seen within the setting dead_after keep them. A job that a trigger refuses to free stays locked. A queue that is locked although none of its jobs is, for longer than dead_after, is freed whoever holds it.';
