-- Returns which of these transactions have not ended; for null, all transactions that have written something and have
-- not ended. The next statement sees what the other transactions committed. Call it in a transaction of its own.
create or replace function {{.schema}}.still_in_flight(transactions bigint[] default null)
  returns bigint[] language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  -- PostgreSQL 12 has these names, too.
  seen txid_snapshot := txid_current_snapshot();
begin
  if transactions is not null then
    return array(select t.id from unnest(transactions) as t (id) where not txid_visible_in_snapshot(t.id, seen));
  end if;
  -- A snapshot lists only ids below its xmax. Other open transactions have ids from xmax up to the id that this
  -- transaction is assigned now.
  return array(select txid_snapshot_xip(seen)) || array(select generate_series(txid_snapshot_xmax(seen), txid_current() - 1));
end;
$$;

comment on function {{.schema}}.still_in_flight(bigint[]) is
  'Returns which of these transactions are still in flight; for null, all that are. For fall_asleep; call it in a transaction of its own.';
