-- Recovers the jobs of dead workers step by step: each call reads up to step jobs in the order of their ids, from where
-- the previous call ended. If a claim has several jobs of a named queue, they are freed at the end, together, because only the
-- first one has started. died: the workers whose jobs are all recovered; more: call the function again.
-- A worker is dead if it had been silent for dead_after when the pass began and has sent no heartbeat since. Its row
-- stays locked until the transaction ends, so if it does send a heartbeat, the heartbeat waits and then returns which
-- jobs the worker has lost. A job claimed within dead_after shows that its worker was alive then, and a job that
-- another transaction has locked is being changed. Such jobs, and their worker, are left for a later pass. A job that a
-- trigger refuses to free is left for stale_sweep.
-- Locks: rows of dead workers, skipping locked ones; then what _gw_free_jobs locks; queue rows.
create or replace function {{.schema}}._gw_recover_workers(
  dead_after interval, step integer default 10000, out died text[], out freed bigint, out more boolean)
  language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  silent_since timestamptz := clock_timestamp() - dead_after;
  pass         record;
  dead         text[];
  walked       record;
  chunk        record;
  refused      bigint      := 0;
  queue_ids    integer[];
begin
  died := '{}';
  freed := 0;
  more := false;
  select r.workers, r.place, r.left_over, r.queued into pass from {{.schema}}._gw_recovery as r;
  if not found then
    insert into {{.schema}}._gw_recovery as r (workers)
    select array_agg(w.id)
      from {{.schema}}._gw_workers as w
     where w.recovered_at is null and w.last_seen_at < silent_since
    having count(*) > 0
    returning r.workers, r.place, r.left_over, r.queued into pass;
  end if;
  dead := array(
    select w.id
      from {{.schema}}._gw_workers as w
     where w.id = any (pass.workers) and w.last_seen_at < silent_since
     order by w.id
       for update skip locked);

  select max(j.id) as place, count(*) as jobs,
         coalesce(array_agg(j.id) filter (where j.locked_at < silent_since and j.is_one_of_several is not true), '{}') as held,
         coalesce(array_agg(j.id) filter (where j.locked_at < silent_since and j.is_one_of_several), '{}') as queued,
         count(*) filter (where j.locked_by = any (dead)) as theirs
    into walked
    from (select j.id, j.locked_by, case when j.locked_by = any (dead) then j.locked_at end as locked_at,
                 j.locked_by = any (dead) and j.job_queue_id > 0
                 and coalesce((select q.locked_at < j.locked_at
                                 from {{.schema}}._private_job_queues as q
                                where q.id = j.job_queue_id), false) as is_one_of_several
            from {{.schema}}._private_jobs as j
           where j.id > pass.place and dead <> '{}'
           order by j.id
           limit step) as j;
  if walked.held <> '{}' then
    select f.freed, f.refused into freed, refused from {{.schema}}._gw_free_jobs(walked.held, dead, null) as f;
  end if;
  more := walked.jobs = step;
  pass.left_over := pass.left_over or freed + refused + cardinality(walked.queued) < walked.theirs;
  pass.queued := pass.queued || walked.queued;
  if not more and pass.queued <> '{}' then
    select coalesce(array_agg(q.id) filter (where q.rank <= step), '{}') as now,
           coalesce(array_agg(q.id) filter (where q.rank > step), '{}') as later
      into chunk
      from (select j.id, rank() over (order by j.job_queue_id) as rank -- the same for all jobs of a queue
              from {{.schema}}._private_jobs as j
             where j.id = any (pass.queued)) as q;
    select _gw_recover_workers.freed + f.freed, pass.left_over or f.freed + f.refused < cardinality(chunk.now)
      into freed, pass.left_over
      from {{.schema}}._gw_free_jobs(chunk.now, dead, null) as f;
    pass.queued := chunk.later;
    more := pass.queued <> '{}';
  end if;
  if more then
    update {{.schema}}._gw_recovery as r set place = coalesce(walked.place, r.place), left_over = pass.left_over, queued = pass.queued;
    return;
  end if;

  delete from {{.schema}}._gw_recovery;
  queue_ids := array( -- whatever the state of their jobs is
    select q.id
      from {{.schema}}._private_job_queues as q
     where q.locked_by = any (dead) and q.locked_at < silent_since
     order by q.id
       for no key update skip locked);
  update {{.schema}}._private_job_queues as q set locked_at = null, locked_by = null where q.id = any (queue_ids);
  perform {{.schema}}._gw_take_paused(queue_ids);
  if not pass.left_over then
    update {{.schema}}._gw_workers as w set recovered_at = clock_timestamp() where w.id = any (dead);
    died := dead;
  end if;
end;
$$;

comment on function {{.schema}}._gw_recover_workers(interval, integer) is
  'Internal, for heartbeat(): recovers the jobs of dead workers step by step.';
