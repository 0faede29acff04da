-- reset_stale_locks for everybody's use: runs at most once in a while (setting stale_sweep_every) in the whole fleet,
-- and takes from the side tables what is not needed any more. Returns how many jobs it freed, 0 out of turn.
-- Locks: its turn, passing by if somebody else has it; then what _gw_drop_spent and reset_stale_locks lock.
-- Raises GWWEX unless expiry is positive and at most 1000 years.
create or replace function {{.schema}}.stale_sweep(
  expiry interval default '4 hours'
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
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
  -- A worker that was taken for dead, came back, claimed and died before it could beat, or one with a job that a trigger
  -- has refused to free: once more, then.
  update {{.schema}}._gw_workers as w
     set recovered_at = null
   where w.recovered_at is not null
     and w.id in (select j.locked_by
                    from {{.schema}}._private_jobs as j
                   where j.locked_at < now() - {{.schema}}.setting('dead_after')::interval);
  return {{.schema}}.reset_stale_locks(expiry);
end;
$$;

comment on function {{.schema}}.stale_sweep(interval) is
  'Runs reset_stale_locks when it is time, at most once per setting stale_sweep_every in the whole fleet. Returns how many jobs were freed, 0 when it was not time.';
