-- Recovers the next of what dead workers hold: walks over so many jobs in the order of their ids, from where the call
-- before ended. died: the workers of which nothing is left to recover; more: call it again.
-- The dead are those that were silent for dead_after when the pass began and have not beaten since. Their rows stay
-- locked until the end, so that one that beats after all waits, and then sees what it has lost. What was claimed within
-- dead_after shows that its worker lived then, and what somebody else has locked is being changed: both are left for a
-- later pass, and so is the worker. A job that a trigger refuses to free is left until stale_sweep comes upon it.
-- Locks: rows of dead workers, passing by locked ones; then what _gw_free_jobs locks; queue rows.
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
  'Internal, for heartbeat(): recovers the next of what dead workers hold.';

-- Unlocks the queues that dead workers have held since before a time, whatever became of their jobs.
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
