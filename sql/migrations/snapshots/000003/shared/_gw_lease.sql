-- The lease of a claim: its locked_at in microseconds since 1970. One expression, so that callers inline it.
create or replace function {{.schema}}._gw_lease(
  locked_at timestamptz
)
  returns bigint
  language sql
  stable
as $$
  select (extract(epoch from locked_at) operator(pg_catalog.*) 1000000)::bigint
$$;

comment on function {{.schema}}._gw_lease(timestamptz) is
  'Internal: the lease that belongs to a locked_at, in microseconds since 1970.';

-- The inverse of _gw_lease, exact until 2106. One expression, so that callers inline it.
create or replace function {{.schema}}._gw_locked_at(
  lease bigint
)
  returns timestamptz
  language sql
  immutable
as $$
  select pg_catalog.to_timestamp(lease operator(pg_catalog./) 1000000::double precision)
$$;

comment on function {{.schema}}._gw_locked_at(bigint) is
  'Internal: the locked_at that belongs to a lease.';

-- Whether a locked_at is that of this lease; any is if the lease is null. One expression, so that callers inline it.
create or replace function {{.schema}}._gw_is_held(
  locked_at timestamptz,
  lease     bigint
)
  returns boolean
  language sql
  immutable
as $$
  select coalesce({{.schema}}._gw_locked_at(lease), locked_at) operator(pg_catalog.=) locked_at
$$;

comment on function {{.schema}}._gw_is_held(timestamptz, bigint) is
  'Internal: whether a locked_at belongs to this lease; any does if the lease is null.';
