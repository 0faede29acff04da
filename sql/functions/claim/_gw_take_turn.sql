-- For claims of many jobs while there are many entries to skip: lets two transactions claim at a time, because each
-- would otherwise skip all jobs that the others are claiming at that moment: with 32 processes 400 for each job that it
-- takes. With only one, the server would be idle while its commit waits for the disk. Returns false if two were
-- claiming; then the claim should take few jobs, so that nobody waits long. It waits for one of them at most half a
-- second, because it may stay open, and then claims beside it. For which one it waits depends on the process.
-- The locks are those of tables, which are given to those who wait in their order: a row that is released could be
-- locked again by the same process before the one that waits for it wakes up.
-- Locks: _gw_claim_turn or _gw_second_claim_turn. In a transaction with a fixed snapshot it does not wait: the snapshot
-- would get older.
create or replace function {{.schema}}._gw_take_turn()
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp
  set lock_timeout = '500ms' -- shorter than deadlock_timeout
as $$
declare
  turns constant regclass[] := array['{{ replace "'" "''" .schema }}._gw_claim_turn', '{{ replace "'" "''" .schema }}._gw_second_claim_turn'];
  turn  regclass;
begin
  foreach turn in array turns loop
    begin
      execute format('lock table %s in share row exclusive mode nowait', turn);
      return true;
    exception when lock_not_available then
      null;
    end;
  end loop;
  if current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
    begin
      execute format('lock table %s in share row exclusive mode', turns[1 + pg_backend_pid() % 2]);
    exception when lock_not_available or deadlock_detected then
      null; -- claim beside the other transactions
    end;
  end if;
  return false;
end;
$$;
