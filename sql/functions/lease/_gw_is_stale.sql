-- Returns whether a lock taken at this time is stale. worker and last_seen_at are those of the owner, null if it is not
-- registered. The function sets no search_path, so that PostgreSQL inlines it.
create or replace function {{.schema}}._gw_is_stale(
  locked_at timestamptz, worker text, last_seen_at timestamptz, expiry interval, dead_after interval)
  returns boolean language sql volatile
as $$
  select (locked_at operator(pg_catalog.<) (
            pg_catalog.now() operator(pg_catalog.-) case when worker is null then interval '4 hours' else greatest(expiry, dead_after) end)
          or worker is not null and locked_at operator(pg_catalog.>) pg_catalog.clock_timestamp()) -- of a clock that was ahead
     and (worker is null or last_seen_at operator(pg_catalog.<) (pg_catalog.clock_timestamp() operator(pg_catalog.-) dead_after))
$$;
