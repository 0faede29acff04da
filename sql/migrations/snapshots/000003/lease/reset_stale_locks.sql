-- Frees jobs and queues that their owner has held for longer than expiry, and returns the number of jobs. They may run
-- again at once; the attempt counts. If a job lost its last attempt this way, last_error has the reason. A job that a
-- trigger refuses to free stays locked, and the function raises a warning. A retired job (see _gw_retire) that a Node
-- worker has unlocked gets attempts = max_attempts, which Graphile Worker's clean-up looks for.
-- For owners that are not registered, such as Node workers, the expiry is at least four hours. A registered owner that
-- was seen within the setting dead_after is alive and keeps its locks without limit.
-- A queue that has been locked for longer than dead_after although none of its jobs is, because the row of its running job
-- was deleted by hand, is freed whoever holds it.
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
  orphaned   integer[];
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
  if retired is not null then
    begin
      update {{.schema}}._private_jobs as j
         set attempts = j.max_attempts
        from (select l.id
                from {{.schema}}._private_jobs as l
               where l.id = any (retired) and l.locked_at is null and l.attempts > l.max_attempts
               order by l.id
                 for update skip locked) as free
       where j.id = free.id;
    exception when others then
      if sqlstate in ('40001', '40P01', '55P03') then
        raise;
      end if;
      raise warning 'Jobs that must not run again keep an attempt more than their maximum: %', sqlerrm;
    end;
  end if;

  with stale as (
    select q.id
      from {{.schema}}._private_job_queues as q
      left join {{.schema}}._gw_workers as w on w.id = q.locked_by
     where {{.schema}}._gw_is_stale(q.locked_at, w.id, w.last_seen_at, expiry, dead_after)
     order by q.id
       for no key update of q skip locked
  )
  update {{.schema}}._private_job_queues as q
     set locked_at = null, locked_by = null
    from stale
   where q.id = stale.id;

  -- A claim locks the queue and its job in one transaction. So once the row of the queue is locked here, a later
  -- statement sees the job of whoever holds the queue.
  orphaned := array(
    select q.id
      from {{.schema}}._private_job_queues as q
     where q.locked_at < now() - dead_after and q.id <> all (coalesce(running, '{}'))
     order by q.id
       for no key update skip locked);
  if orphaned <> '{}' then
    update {{.schema}}._private_job_queues as q
       set locked_at = null, locked_by = null
     where q.id = any (orphaned) and q.locked_at is not null
       and q.id <> all (array(select j.job_queue_id
                                from {{.schema}}._private_jobs as j
                               where j.locked_at is not null and j.job_queue_id = any (orphaned)));
  end if;

  if freed > 0 then
    perform {{.schema}}._gw_wake(freed);
  end if;
  return freed;
end;
$$;

comment on function {{.schema}}.reset_stale_locks(interval) is
  'Frees jobs and queues locked for longer than expiry and returns the number of jobs. Owners that are not registered keep their locks for at least four hours; registered owners that were seen within the setting dead_after keep them. A job that a trigger refuses to free stays locked. A queue that is locked although none of its jobs is, for longer than dead_after, is freed whoever holds it.';

-- Returns whether a lock taken at this time is stale. worker and last_seen_at are those of the owner, null if it is not
-- registered. The function sets no search_path, so that PostgreSQL inlines it.
create or replace function {{.schema}}._gw_is_stale(
  locked_at    timestamptz,
  worker       text,
  last_seen_at timestamptz,
  expiry       interval,
  dead_after   interval
)
  returns boolean
  language sql
  volatile
as $$
  select locked_at operator(pg_catalog.<) (
           pg_catalog.now() operator(pg_catalog.-) case when worker is null then interval '4 hours' else greatest(expiry, dead_after) end)
     and (worker is null or last_seen_at operator(pg_catalog.<) (pg_catalog.clock_timestamp() operator(pg_catalog.-) dead_after))
$$;

comment on function {{.schema}}._gw_is_stale(timestamptz, text, timestamptz, interval, interval) is
  'Internal: returns whether a lock is stale.';

-- Frees those of these jobs whose locks are stale, and returns their number. The attempts of jobs that have not started do not
-- count.
-- Locks: job rows by id; skips locked ones.
create or replace function {{.schema}}._gw_reset_jobs(
  job_ids bigint[],
  expiry  interval
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  dead_after interval := {{.schema}}.setting('dead_after')::interval;
  unstarted  bigint[] := {{.schema}}._gw_unstarted_jobs(job_ids);
  freed      bigint;
begin
  if {{.schema}}._gw_keeps() then
    job_ids := array(
      select j.id
        from {{.schema}}._private_jobs as j
        left join {{.schema}}._gw_workers as w on w.id = j.locked_by
       where j.id = any (job_ids)
         and {{.schema}}._gw_is_stale(j.locked_at, w.id, w.last_seen_at, expiry, dead_after)
       order by j.id
         for update of j skip locked);
    perform {{.schema}}._gw_note_attempts(
      'recovered', array(select distinct j.locked_by from {{.schema}}._private_jobs as j where j.id = any (job_ids)), job_ids,
      details => array['The worker reported no outcome.']);
  end if;
  with stale as (
    select j.id
      from {{.schema}}._private_jobs as j
      left join {{.schema}}._gw_workers as w on w.id = j.locked_by
     where j.id = any (job_ids)
       and {{.schema}}._gw_is_stale(j.locked_at, w.id, w.last_seen_at, expiry, dead_after)
     order by j.id
       for update of j skip locked
  )
  update {{.schema}}._private_jobs as j
     set last_error = case when j.attempts = j.max_attempts and u.id is null
                           then 'Worker ' || coalesce(j.locked_by, 'unknown') || ' reported no outcome of the last attempt.'
                           else j.last_error end,
         attempts   = case when u.id is not null then greatest(0, j.attempts - 1) else least(j.attempts, j.max_attempts) end,
         run_at     = case when u.id is not null then j.run_at else greatest(j.run_at, now()) end,
         locked_at  = null,
         locked_by  = null
    from stale
    left join unnest(unstarted) as u (id) on u.id = stale.id
   where j.id = stale.id;
  get diagnostics freed = row_count;
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_group_lanes'::regclass) > 0 then
    perform {{.schema}}._gw_keep_slots(job_ids);
    perform {{.schema}}._gw_leave_lanes(job_ids);
  end if;
  return freed;
end;
$$;

comment on function {{.schema}}._gw_reset_jobs(bigint[], interval) is
  'Internal, for reset_stale_locks(): frees those of these jobs whose locks are stale.';
