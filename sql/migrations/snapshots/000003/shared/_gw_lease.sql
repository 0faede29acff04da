-- Returns the lease of a claim: its locked_at in microseconds since 1970. The function is a single expression, so
-- callers inline it.
create or replace function {{.schema}}._gw_lease(locked_at timestamptz)
  returns bigint language sql stable
as $$
  select (extract(epoch from locked_at) operator(pg_catalog.*) 1000000)::bigint
$$;

comment on function {{.schema}}._gw_lease(timestamptz) is 'Internal: returns the lease of a claim: its locked_at in microseconds since 1970.';

-- The inverse of _gw_lease, exact until 2106. The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_locked_at(lease bigint)
  returns timestamptz language sql immutable
as $$
  select pg_catalog.to_timestamp(lease operator(pg_catalog./) 1000000::double precision)
$$;

comment on function {{.schema}}._gw_locked_at(bigint) is 'Internal: the inverse of _gw_lease, exact until 2106.';

-- Returns whether a locked_at matches a lease; a null lease matches any. The function is a single expression, so
-- callers inline it.
create or replace function {{.schema}}._gw_is_held(locked_at timestamptz, lease bigint)
  returns boolean language sql immutable
as $$
  select coalesce({{.schema}}._gw_locked_at(lease), locked_at) operator(pg_catalog.=) locked_at
$$;

comment on function {{.schema}}._gw_is_held(timestamptz, bigint) is 'Internal: returns whether a locked_at matches a lease; a null lease matches any.';
