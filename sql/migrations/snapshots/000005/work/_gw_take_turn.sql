-- For claims of many jobs while there are many entries to skip: lets two transactions claim at a time, because each would otherwise
-- skip all jobs that the others are claiming at that moment: with 32 processes 400 for each job that it takes. With only
-- one, the server would be idle while its commit waits for the disk. Returns false if two were claiming; then the claim should
-- take few jobs, so that nobody waits long. It waits for one of them at most half a second, because it may stay open, and then
-- claims beside it. For which one it waits depends on the process: otherwise nobody would wait for the other, so that its
-- process could claim again and again.
-- Locks: a row of _gw_turns. In a transaction with a fixed snapshot it does not wait: the snapshot would get older.
create or replace function {{.schema}}._gw_take_turn()
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set lock_timeout = '500ms' -- shorter than deadlock_timeout
as $$
begin
  perform from {{.schema}}._gw_turns as t where t.name in ('claim', 'second_claim') limit 1 for no key update skip locked;
  if found then
    return true;
  elsif current_setting('transaction_isolation') in ('read committed', 'read uncommitted') then
    begin
      perform
         from {{.schema}}._gw_turns as t
        where t.name = case when pg_backend_pid() % 2 = 0 then 'claim' else 'second_claim' end
          for no key update;
    exception when lock_not_available or deadlock_detected then
      null; -- claim beside the other transactions
    end;
  end if;
  return false;
end;
$$;

comment on function {{.schema}}._gw_take_turn() is
  'Internal: for claims of many jobs, waits while two other transactions are claiming, at most half a second, and returns false if it had to.';
