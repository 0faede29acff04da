-- Converts flags to the form of the table: an object of flag -> true, null if there are no flags. The function is in
-- PL/pgSQL, which caches the plan; callers do not call it if flags is null.
create or replace function {{.schema}}._gw_flags(flags text[])
  returns jsonb language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return (select jsonb_object_agg(f.flag, true) from unnest(flags) as f (flag));
end;
$$;

comment on function {{.schema}}._gw_flags(text[]) is 'Internal: converts flags to the form of the table: an object of flag -> true, null if there are no flags.';
