-- Returns the name of the schema for roles: <schema of the queue>_api. Roles have no access to the queue's own schema.
create or replace function {{.schema}}._gw_api_schema()
  returns text language sql stable set search_path = pg_catalog, pg_temp
as $$
  select n.nspname || '_api' from pg_namespace as n where n.oid = {{.schema}}._gw_namespace()
$$;
