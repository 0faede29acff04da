-- The last statement of every migration from 000003 on: records what it has made, and gives roles the rights that
-- gw-migrate grants has remembered. A function that was made anew is open to everybody until then.
-- A script of the extension calls _gw_record_installed() instead: the functions for roles are not the extension's.
create or replace function {{.schema}}._gw_finish_migration()
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_record_installed();
  perform {{.schema}}._gw_apply_grants();
end;
$$;

comment on function {{.schema}}._gw_finish_migration() is
  'Internal, the end of every migration: records what it has made, and gives roles their rights again.';
