-- Runs reset_stale_locks at most once per setting stale_sweep_every in the whole fleet. Returns the number of jobs that
-- it freed, 0 if the sweep is not due. What may wait is done by tidy, in a call of its own.
-- Locks: the row of the sweep, or returns 0 if another transaction holds it; then what reset_stale_locks locks.
-- Raises GWWEX unless expiry is positive and at most 1000 years.
create or replace function {{.schema}}.stale_sweep(expiry interval default '4 hours')
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  recovered text[];
begin
  perform {{.schema}}._gw_check_expiry(expiry);
  if not {{.schema}}._gw_begin_turn('stale_sweep', clock_timestamp() - {{.schema}}.setting('stale_sweep_every')::interval) then
    return 0;
  end if;
  -- A worker that was taken for dead, came back, claimed and died before its next heartbeat, or one with a job that a
  -- trigger has refused to free, is recovered once more.
  recovered := array(select w.id from {{.schema}}._gw_workers as w where w.recovered_at is not null);
  if recovered <> '{}' then
    update {{.schema}}._gw_workers as w
       set recovered_at = null
     where w.id = any (recovered)
       and w.id = any (array(select j.locked_by
                               from {{.schema}}._private_jobs as j
                              where j.locked_by = any (recovered)
                                and j.locked_at not between now() - (select {{.schema}}.setting('dead_after')::interval)
                                                        and clock_timestamp()));
  end if;
  return {{.schema}}.reset_stale_locks(expiry);
end;
$$;

comment on function {{.schema}}.stale_sweep(interval) is
  'Runs reset_stale_locks if it is due: at most once per setting stale_sweep_every in the whole fleet. Returns the number of jobs that it freed, 0 if it was not due.';

-- Deletes expired rows of the side tables and packs the history, at most once per setting stale_sweep_every in the
-- whole fleet. Returns whether it was due. Work that fails is recorded for doctor(), and the other work is done all the
-- same.
-- Locks: the row of this work, or returns false if another transaction holds it; then what _gw_drop_spent and
-- _gw_pack_history lock.
create or replace function {{.schema}}.tidy()
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if not {{.schema}}._gw_begin_turn('tidy', clock_timestamp() - {{.schema}}.setting('stale_sweep_every')::interval) then
    return false;
  end if;
  perform {{.schema}}._gw_try('_gw_drop_spent'), {{.schema}}._gw_try('_gw_pack_history');
  return true;
end;
$$;

comment on function {{.schema}}.tidy() is
  'Deletes expired rows of the side tables and packs the history of jobs if that is due: at most once per setting stale_sweep_every in the whole fleet. Returns whether it was due. doctor() reports what fails.';
