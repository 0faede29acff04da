-- The schema that holds what roles may call: <the queue's>_api. The queue's own is closed to them.
create or replace function {{.schema}}._gw_api_schema()
  returns text
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select n.nspname || '_api' from pg_namespace as n where n.oid = {{.schema}}._gw_namespace()
$$;

comment on function {{.schema}}._gw_api_schema() is
  'Internal, for grants: the name of the schema that holds what roles may call, not quoted.';
