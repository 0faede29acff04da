-- Returns the newest breaking revision of Graphile Worker's migrations that the schema has, or 0. A worker that does
-- not support this revision must not start.
create or replace function {{.schema}}._gw_breaking_revision()
  returns integer language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(max(m.id), 0) from {{.schema}}.migrations as m where m.breaking
$$;
