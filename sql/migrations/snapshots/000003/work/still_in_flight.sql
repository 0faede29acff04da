-- Which of these transactions have not ended; of null, all that have written anything and not ended. What the others
-- committed is there for the next statement to see. Call it in a transaction of its own.
create or replace function {{.schema}}.still_in_flight(
  transactions bigint[] default null
)
  returns bigint[]
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  -- These names for it are those that PostgreSQL 12 has, too.
  seen txid_snapshot := txid_current_snapshot();
begin
  if transactions is not null then
    return array(select t.id from unnest(transactions) as t (id) where not txid_visible_in_snapshot(t.id, seen));
  end if;
  -- A snapshot only lists what is older than the last transaction to have ended. The others have ids from there up to the
  -- one that we are given now.
  return array(select txid_snapshot_xip(seen)) || array(select generate_series(txid_snapshot_xmax(seen), txid_current() - 1));
end;
$$;

comment on function {{.schema}}.still_in_flight(bigint[]) is
  'Which of these transactions are still in flight; of null, all that are. For fall_asleep; call it in a transaction of its own.';
