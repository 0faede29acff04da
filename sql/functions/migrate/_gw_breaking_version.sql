-- Returns the newest breaking version of the schema, 0 if there is none. A program that does not support this version
-- must not use the schema. _gw_breaking_revision() is the same for Graphile Worker's migrations.
create or replace function {{.schema}}._gw_breaking_version()
  returns integer language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(max(b.version), 0) from {{.schema}}._gw_breaking_versions as b
$$;
