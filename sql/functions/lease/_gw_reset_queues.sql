-- For reset_stale_locks: frees the queues whose locks are stale, and those that have been locked for longer than the setting dead_after
-- although none of their jobs is. running: queues with a locked job. The lock of a pause is never stale.
-- Locks: queue rows by id; skips rows that other transactions have locked.
create or replace function {{.schema}}._gw_reset_queues(expiry interval, running integer[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  dead_after interval := {{.schema}}.setting('dead_after')::interval;
  stale      integer[];
  orphaned   integer[];
begin
  stale := array(
    select q.id
      from {{.schema}}._private_job_queues as q
      left join {{.schema}}._gw_workers as w on w.id = q.locked_by
     where {{.schema}}._gw_is_stale(q.locked_at, w.id, w.last_seen_at, expiry, dead_after)
       and q.locked_by is distinct from 'pause'
     order by q.id
       for no key update of q skip locked);

  -- A claim locks the queue and its job in one transaction. So once the row of the queue is locked here, a later
  -- statement sees the job of whoever holds the queue.
  orphaned := array(
    select q.id
      from {{.schema}}._private_job_queues as q
     where q.locked_at < now() - dead_after and q.id <> all (coalesce(running, '{}'))
       and q.locked_by is distinct from 'pause'
     order by q.id
       for no key update skip locked);
  orphaned := array(
    select u.id
      from unnest(orphaned) as u (id)
     where u.id <> all (array(select j.job_queue_id
                                from {{.schema}}._private_jobs as j
                               where j.locked_at is not null and j.job_queue_id = any (orphaned))));
  if stale <> '{}' or orphaned <> '{}' then
    update {{.schema}}._private_job_queues as q
       set locked_at = null, locked_by = null
     where q.id = any (stale || orphaned);
    perform {{.schema}}._gw_take_paused(stale || orphaned);
  end if;
end;
$$;

comment on function {{.schema}}._gw_reset_queues(interval, integer[]) is
  'Internal, for reset_stale_locks(): frees queues whose locks are stale or in which no job runs.';
