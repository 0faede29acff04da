-- Grants every stored role the privileges of its kinds, and revokes all others. Every migration calls this function at
-- its end: until then public may execute the functions that it created, and the schema for roles calls the old versions
-- of those that it changed.
create or replace function {{.schema}}._gw_apply_grants()
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  statement text;
  gone      text;
begin
  foreach statement in array array(select s.statement from {{.schema}}._gw_grant_statements() as s (statement)) loop
    execute statement;
  end loop;
  perform {{.schema}}._gw_share_rights();
  for gone in
    select distinct g.role from {{.schema}}._gw_grants as g
     where not exists (select from pg_roles as r where r.rolname = g.role)
     order by 1
  loop
    raise warning 'The role % no longer exists and was ignored.', gone;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_apply_grants() is 'Internal: grants every stored role the privileges of its kinds, and revokes all others.';
