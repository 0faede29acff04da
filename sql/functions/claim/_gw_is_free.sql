-- Returns whether the transaction that has locked or changed a visible row, its xmax, had ended before the snapshot, or
-- may be this one or a subtransaction of it: then it did not begin earlier than this one. Claims call it for rows whose
-- xmax is not 0, before they lock them. They would skip locked rows without it, too.
-- But they would follow the rows that another claim has just changed to their new versions, and keep these locked, so
-- that their completion waits for this claim. The number of a subtransaction or a multixact may get the wrong answer,
-- so a claim that finds nothing searches without it.
-- The number in snapshots is the one nearest to the end of the snapshot that has the 32 bits of xmax. snapshot: must
-- not be newer than that of the statement. In PL/pgSQL, because inlined it would cost every claim 1 %, and without a
-- search_path of its own, which would cost more than the function.
create or replace function {{.schema}}._gw_is_free(locker xid, snapshot txid_snapshot)
  returns boolean language plpgsql stable
as $$
begin
  return pg_catalog.txid_visible_in_snapshot(
           pg_catalog.txid_snapshot_xmax(snapshot) operator(pg_catalog.-) 2147483648 operator(pg_catalog.+)
           ((locker::pg_catalog.text::pg_catalog.int8 operator(pg_catalog.-) pg_catalog.txid_snapshot_xmax(snapshot)
             operator(pg_catalog.+) 2147483648) operator(pg_catalog.&) 4294967295),
           snapshot)
         or (((locker::pg_catalog.text::pg_catalog.int8 operator(pg_catalog.-) pg_catalog.txid_current_if_assigned())
              operator(pg_catalog.&) 4294967295) operator(pg_catalog.<) 2147483648) is true;
end;
$$;

-- Returns whether a claim may try to lock a visible row with this xmax. snapshot: null to try any row. The function is
-- a single expression, so the claims inline it.
create or replace function {{.schema}}._gw_may_lock(locker xid, snapshot txid_snapshot)
  returns boolean language sql stable
as $$
  select locker operator(pg_catalog.=) '0' or snapshot is null or {{.schema}}._gw_is_free(locker, snapshot)
$$;
