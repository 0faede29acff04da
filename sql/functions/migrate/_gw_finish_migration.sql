-- The last statement of every migration from 000003 on. It records the functions and triggers that the migration has
-- created, and applies the grants stored by gw-migrate grants. Until then public may execute newly created functions.
-- A script of the extension calls _gw_record_installed() instead: the functions for roles do not belong to the
-- extension.
create or replace function {{.schema}}._gw_finish_migration()
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_record_installed();
  perform {{.schema}}._gw_apply_grants();
end;
$$;
