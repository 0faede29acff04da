-- The newest revision of Graphile Worker's that the schema went through and that is marked as breaking, 0 if there is
-- none: workers that do not know it must not start.
create or replace function {{.schema}}._gw_breaking_revision()
  returns integer
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce(max(m.id), 0) from {{.schema}}.migrations as m where m.breaking
$$;

comment on function {{.schema}}._gw_breaking_revision() is
  'Internal, for workers: the newest breaking revision of Graphile Worker''s that the schema went through, 0 if there is none.';
