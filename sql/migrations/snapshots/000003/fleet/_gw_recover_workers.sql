-- Recovers the jobs of dead workers: each call reads up to step jobs in the order of their ids, from where the previous
-- call ended, and the last one frees those that dead workers hold. All of them together: of the jobs that a claim has
-- in a named queue only the first has started. died: the workers whose jobs are all recovered; more: call the function
-- again. A worker is dead if it had been silent for dead_after when the pass began and has sent no heartbeat since. Its
-- row stays locked until the transaction ends, so if it does send a heartbeat, the heartbeat waits and then returns
-- which jobs the worker has lost. A lock in the future is of a clock that was ahead. A job claimed within dead_after
-- shows that its worker was alive then, and a job that another transaction has locked is being changed. Such jobs, and
-- their worker, are left for a later pass. A job that a trigger refuses to free is left for stale_sweep.
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
  held         record;
  refused      bigint;
  queue_ids    integer[];
begin
  died := '{}';
  freed := 0;
  insert into {{.schema}}._gw_recovery (workers)
  select array_agg(w.id)
    from {{.schema}}._gw_workers as w
   where w.recovered_at is null and w.last_seen_at < silent_since and not exists (select from {{.schema}}._gw_recovery)
  having count(*) > 0;
  select r.workers, r.place, r.job_ids into pass from {{.schema}}._gw_recovery as r;
  dead := array(
    select w.id
      from {{.schema}}._gw_workers as w
     where w.id = any (pass.workers) and w.last_seen_at < silent_since
     order by w.id
       for update skip locked);

  select max(j.id) as place, count(*) = step as is_full, array_agg(j.id) filter (where j.locked_by = any (pass.workers)) as job_ids
    into walked
    from (select j.id, j.locked_by
            from {{.schema}}._private_jobs as j
           where j.id > pass.place and dead <> '{}'
           order by j.id
           limit step) as j;
  more := walked.is_full;
  if more then
    update {{.schema}}._gw_recovery as r set place = walked.place, job_ids = r.job_ids || walked.job_ids;
    return;
  end if;

  delete from {{.schema}}._gw_recovery;
  select count(*) as jobs, array_agg(j.id) filter (where j.locked_at not between silent_since and clock_timestamp()) as ids
    into held
    from {{.schema}}._private_jobs as j
   where j.id = any (pass.job_ids || walked.job_ids) and j.locked_by = any (dead);
  select f.freed, f.refused into freed, refused from {{.schema}}._gw_free_jobs(held.ids, dead, null) as f;
  queue_ids := array( -- whatever the state of their jobs is
    select q.id
      from {{.schema}}._private_job_queues as q
     where q.locked_by = any (dead) and q.locked_at not between silent_since and clock_timestamp()
     order by q.id
       for no key update skip locked);
  update {{.schema}}._private_job_queues as q set locked_at = null, locked_by = null where q.id = any (queue_ids);
  perform {{.schema}}._gw_take_paused(queue_ids);
  if freed + refused = held.jobs then
    update {{.schema}}._gw_workers as w set recovered_at = clock_timestamp() where w.id = any (dead);
    died := dead;
  end if;
end;
$$;

comment on function {{.schema}}._gw_recover_workers(interval, integer) is 'Internal: recovers the jobs of dead workers: each call reads up to step jobs in the order of their ids, from where the previous call ended, and the last one frees those that dead workers hold.';
