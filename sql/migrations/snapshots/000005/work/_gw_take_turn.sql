-- For claims of many jobs while there are many entries to skip: lets one transaction after the other claim, because each
-- would otherwise skip all jobs that the others are claiming at that moment: with 32 processes 400 for each job that
-- it takes. Returns false if another transaction was claiming; then the claim should take few jobs, so that nobody waits
-- long. It waits for that transaction at most half a second, because it may stay open, and then claims beside it.
-- Locks: a row of _gw_turns. In a transaction with a fixed snapshot it does not wait: the snapshot would get older.
create or replace function {{.schema}}._gw_take_turn()
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set lock_timeout = '500ms' -- shorter than deadlock_timeout
as $$
begin
  perform from {{.schema}}._gw_turns as t where t.name = 'claim' for no key update skip locked;
  if found then
    return true;
  elsif current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
    begin
      perform from {{.schema}}._gw_turns as t where t.name = 'claim' for no key update;
    exception when lock_not_available or deadlock_detected then
      null; -- claim beside the other transaction
    end;
  end if;
  return false;
end;
$$;

comment on function {{.schema}}._gw_take_turn() is
  'Internal: for claims of many jobs, waits for another transaction that is claiming, at most half a second, and returns false if there was one.';
