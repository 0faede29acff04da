-- Flags as the table stores them: an object of flag -> true, null when there are none.
create or replace function {{.schema}}._gw_flags(
  flags text[]
)
  returns jsonb
  language sql
  immutable
as $$
  select pg_catalog.jsonb_object_agg(f.flag, true)
    from pg_catalog.unnest(flags) as f (flag)
$$;

comment on function {{.schema}}._gw_flags(text[]) is
  'Internal: flags as _private_jobs stores them, an object of flag -> true; null when there are none.';
