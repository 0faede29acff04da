-- Records the functions and triggers that this transaction has created, with a digest of each: only _gw_installed
-- records which objects belong to gw. doctor(), gw-migrate status and gw-migrate repair read it.
-- Raises undefined_object in an install with savepoints, which hide the transaction that has created a function.
create or replace function {{.schema}}._gw_record_installed()
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  insert into {{.schema}}._gw_installed as i (object, digest)
  select o.object, o.digest
    from {{.schema}}._gw_objects() as o
   where o.made_here
      on conflict on constraint _gw_installed_pkey do update set digest = excluded.digest;

  if not exists (select from {{.schema}}._gw_installed) then
    raise exception 'No function of this transaction was found.'
      using errcode = 'undefined_object',
            hint = 'Install in one transaction without savepoints; psql sets them unless ON_ERROR_ROLLBACK is off.';
  end if;
end;
$$;
