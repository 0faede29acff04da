-- Flags as the table stores them: an object of flag -> true, null when there are none. In PL/pgSQL, which keeps the plan;
-- callers spare themselves the call when flags is null.
create or replace function {{.schema}}._gw_flags(
  flags text[]
)
  returns jsonb
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return (select jsonb_object_agg(f.flag, true) from unnest(flags) as f (flag));
end;
$$;

comment on function {{.schema}}._gw_flags(text[]) is
  'Internal: flags as _private_jobs stores them, an object of flag -> true; null when there are none.';
