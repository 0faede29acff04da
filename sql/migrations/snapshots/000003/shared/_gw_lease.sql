-- The lease of a claim: its locked_at in microseconds since 1970. One expression, so that callers inline it.
create or replace function {{.schema}}._gw_lease(
  locked_at timestamptz
)
  returns bigint
  language sql
  stable
as $$
  select (extract(epoch from locked_at) * 1000000)::bigint
$$;

comment on function {{.schema}}._gw_lease(timestamptz) is
  'Internal: the lease that belongs to a locked_at, in microseconds since 1970.';
