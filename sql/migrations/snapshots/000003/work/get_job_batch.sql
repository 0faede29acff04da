-- Claims up to batch_size due jobs for a worker and returns them in order: priority, run_at, id. Of each named queue it
-- takes the head job only, and the queue is then busy until that job ends. No row: nothing to claim.
-- Every claim counts an attempt. lease names this claim of the job; hand it back with the outcome.
-- Locks: never waits. Queue rows come before their head jobs; whatever somebody else has locked is passed by.
-- Raises GWWID (worker id), GWWBS (batch size).
--
-- How it stays fast: rows are locked by an array of ctid under a generic plan, which depends on no estimate and so is
-- planned once; sequential scans are off, for a plan cached while the queue was empty must not meet a burst with one.
create or replace function {{.schema}}.get_job_batch(
  worker_id        text,
  task_identifiers text[]      default null,
  batch_size       integer     default 1,
  forbidden_flags  text[]      default null,
  now              timestamptz default now()
)
  returns table (
    id              bigint,
    task_identifier text,
    payload         json,
    queue_name      text,
    priority        smallint,
    run_at          timestamptz,
    attempts        smallint,
    max_attempts    smallint,
    key             text,
    flags           jsonb,
    lease           bigint,
    created_at      timestamptz,
    last_error      text,
    revision        integer
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  claimed_at timestamptz := clock_timestamp();
  queue_ids  integer[]   := array[]::integer[];
  heads      tid[]       := array[]::tid[];
  queued     boolean;
begin
  if coalesce(length(worker_id), 0) not between 1 and 128 then
    raise exception 'Worker id must be 1 to 128 characters long.' using errcode = 'GWWID';
  elsif coalesce(batch_size, 0) < 1 then
    raise exception 'Batch size must be at least 1, not %.', coalesce(batch_size::text, 'null')
      using errcode = 'GWWBS';
  end if;

  for look in 1..2 loop
    queued := exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is not null);
    if queued then
      queue_ids := {{.schema}}._gw_lock_queues(
        task_identifiers, batch_size, forbidden_flags, get_job_batch.now, look = 2);
    end if;
    if queue_ids <> '{}' then
      -- A statement of its own, so that it sees what the last holder of each queue committed. A head that somebody
      -- changes or has just changed (xmin) is left alone, and its queue with it: the job behind must not overtake, and
      -- the head may be due later by now, or belong to another queue.
      select coalesce(array_agg(h.ctid), '{}'), coalesce(array_agg(h.job_queue_id), '{}')
        into heads, queue_ids
        from unnest(queue_ids) as q (id)
       cross join lateral (
              select j.id, j.xmin
                from {{.schema}}._private_jobs as j
               where j.is_available
                 and j.job_queue_id = q.id
                 and j.run_at <= get_job_batch.now
                 and (task_identifiers is null
                      or j.task_id = any (array(select t.id
                                                  from {{.schema}}._private_tasks as t
                                                 where t.identifier = any (task_identifiers))))
                 and (forbidden_flags is null or (j.flags ?| forbidden_flags) is not true)
               order by j.priority, j.run_at, j.id
               limit 1) as head
       cross join lateral (
              select l.ctid, l.job_queue_id
                from {{.schema}}._private_jobs as l
               where l.id = head.id and l.xmin = head.xmin
                 for update skip locked) as h;
    end if;

    return query
    with claimed as (
      update {{.schema}}._private_jobs as j
         set attempts = j.attempts + 1, locked_by = worker_id, locked_at = claimed_at
       where j.ctid = any (heads || array(
               select p.ctid
                 from {{.schema}}._private_jobs as p
                where p.is_available
                  and p.job_queue_id is null
                  and p.run_at <= get_job_batch.now
                  and (task_identifiers is null
                       or p.task_id = any (array(select t.id
                                                   from {{.schema}}._private_tasks as t
                                                  where t.identifier = any (task_identifiers))))
                  and (forbidden_flags is null or (p.flags ?| forbidden_flags) is not true)
                order by p.priority, p.run_at, p.id
                limit batch_size - cardinality(heads)
                  for update skip locked))
      returning j.*
    ), busy as (
      update {{.schema}}._private_job_queues as q
         set locked_by = worker_id, locked_at = claimed_at
       where q.id = any (queue_ids)
    )
    select c.id, t.identifier, c.payload, q.queue_name, c.priority, c.run_at, c.attempts, c.max_attempts, c.key, c.flags,
           {{.schema}}._gw_lease(c.locked_at), c.created_at, c.last_error, c.revision
      from claimed as c
      left join {{.schema}}._private_tasks as t on t.id = c.task_id -- a name may have been collected by hand
      left join {{.schema}}._private_job_queues as q on q.id = c.job_queue_id
     order by c.priority, c.run_at, c.id;

    -- Nothing, though jobs without a queue are there: perhaps others are just claiming those. They had their places in
    -- the batch; the second look gives these to the heads of queues, which must not wait for the next call.
    exit when found or not queued
      or not exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is null);
  end loop;
end;
$$;

comment on function {{.schema}}.get_job_batch(text, text[], integer, text[], timestamptz) is
  'Claims up to batch_size due jobs for a worker and returns them by priority, run_at, id. task_identifiers: the tasks it can run, all if null. forbidden_flags: jobs with one of these flags are left. now: what counts as due. lease: name it when reporting the outcome. No row when there is nothing to claim.';
