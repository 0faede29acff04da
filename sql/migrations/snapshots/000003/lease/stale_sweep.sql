-- Runs reset_stale_locks at most once per setting stale_sweep_every in the whole fleet, and deletes expired rows of the
-- side tables. Returns the number of jobs that it freed, 0 if the sweep is not due.
-- Locks: the row of the sweep, or returns 0 if another transaction holds it; then what _gw_drop_spent and
-- reset_stale_locks lock.
-- Raises GWWEX unless expiry is positive and at most 1000 years.
create or replace function {{.schema}}.stale_sweep(
  expiry interval default '4 hours'
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  freed bigint;
begin
  perform {{.schema}}._gw_check_expiry(expiry);
  perform from {{.schema}}._gw_turns as t
    where t.name = 'stale_sweep'
      and t.last_at <= clock_timestamp() - {{.schema}}.setting('stale_sweep_every')::interval
      for update skip locked;
  if not found then
    return 0;
  end if;
  update {{.schema}}._gw_turns as t set last_at = clock_timestamp() where t.name = 'stale_sweep';

  perform {{.schema}}._gw_drop_spent();
  -- A worker that was taken for dead, came back, claimed and died before its next heartbeat, or one with a job that a
  -- trigger has refused to free, is recovered once more.
  update {{.schema}}._gw_workers as w
     set recovered_at = null
   where w.recovered_at is not null
     and w.id in (select j.locked_by
                    from {{.schema}}._private_jobs as j
                   where j.locked_at < now() - {{.schema}}.setting('dead_after')::interval);
  freed := {{.schema}}.reset_stale_locks(expiry);
  perform {{.schema}}._gw_pack_history();
  return freed;
end;
$$;

comment on function {{.schema}}.stale_sweep(interval) is
  'Runs reset_stale_locks if it is due: at most once per setting stale_sweep_every in the whole fleet. Returns the number of jobs that it freed, 0 if it was not due.';
