-- Recovers the jobs of dead workers step by step: each call reads up to step jobs in the order of their ids, from where
-- the previous call ended. died: the workers whose jobs are all recovered; more: call the function again.
-- A worker is dead if it had been silent for dead_after when the pass began and has sent no heartbeat since. Its row
-- stays locked until the transaction ends, so if it does send a heartbeat, the heartbeat waits and then returns which
-- jobs the worker has lost. A job claimed within dead_after shows that its worker was alive then, and a job that
-- another transaction has locked is being changed. Such jobs, and their worker, are left for a later pass. A job that a
-- trigger refuses to free is left for stale_sweep.
-- Locks: rows of dead workers, skipping locked ones; then what _gw_free_jobs locks; queue rows.
create or replace function {{.schema}}._gw_recover_workers(
  dead_after interval,
  step       integer  default 10000,
  out died   text[],
  out freed  bigint,
  out more   boolean
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  silent_since timestamptz := clock_timestamp() - dead_after;
  pass         record;
  dead         text[];
  walked       record;
  refused      bigint      := 0;
begin
  died := '{}';
  freed := 0;
  more := false;
  select r.workers, r.place, r.left_over into pass from {{.schema}}._gw_recovery as r;
  if not found then
    insert into {{.schema}}._gw_recovery as r (workers)
    select array_agg(w.id)
      from {{.schema}}._gw_workers as w
     where w.recovered_at is null and w.last_seen_at < silent_since
    having count(*) > 0
    returning r.workers, r.place, r.left_over into pass;
  end if;
  dead := array(
    select w.id
      from {{.schema}}._gw_workers as w
     where w.id = any (pass.workers) and w.last_seen_at < silent_since
     order by w.id
       for update skip locked);

  select max(j.id) as place, count(*) as jobs,
         coalesce(array_agg(j.id) filter (where j.locked_at < silent_since), '{}') as held,
         count(*) filter (where j.locked_by = any (dead)) as theirs
    into walked
    from (select j.id, j.locked_by, case when j.locked_by = any (dead) then j.locked_at end as locked_at
            from {{.schema}}._private_jobs as j
           where j.id > pass.place and dead <> '{}'
           order by j.id
           limit step) as j;
  if walked.held <> '{}' then
    select f.freed, f.refused into freed, refused from {{.schema}}._gw_free_jobs(walked.held, dead, null) as f;
  end if;
  more := walked.jobs = step;
  pass.left_over := pass.left_over or freed + refused < walked.theirs;
  if more then
    update {{.schema}}._gw_recovery as r set place = walked.place, left_over = pass.left_over;
    return;
  end if;

  delete from {{.schema}}._gw_recovery;
  perform {{.schema}}._gw_free_queues_of(dead, silent_since);
  if not pass.left_over then
    update {{.schema}}._gw_workers as w set recovered_at = clock_timestamp() where w.id = any (dead);
    died := dead;
  end if;
end;
$$;

comment on function {{.schema}}._gw_recover_workers(interval, integer) is
  'Internal, for heartbeat(): recovers the jobs of dead workers step by step.';

-- Unlocks the queues that dead workers have held since before a time, whatever the state of their jobs is.
create or replace function {{.schema}}._gw_free_queues_of(
  workers text[],
  since   timestamptz
)
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  update {{.schema}}._private_job_queues as q
     set locked_at = null, locked_by = null
    from (select l.id
            from {{.schema}}._private_job_queues as l
           where l.locked_by = any (workers) and l.locked_at < since
           order by l.id
             for no key update skip locked) as held
   where q.id = held.id
$$;

comment on function {{.schema}}._gw_free_queues_of(text[], timestamptz) is
  'Internal: unlocks the queues that dead workers have held since before a time.';
