-- Gives every role that is remembered what its kinds may do, and nothing else. To be called by every migration, at its
-- end: what it has made anew is open to everybody until then, and what it has changed is to be called anew.
create or replace function {{.schema}}._gw_apply_grants()
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  statement text;
  gone      text;
begin
  foreach statement in array array(select s.statement from {{.schema}}._gw_grant_statements() as s (statement)) loop
    execute statement;
  end loop;
  for gone in
    select distinct g.role from {{.schema}}._gw_grants as g
     where not exists (select from pg_roles as r where r.rolname = g.role)
     order by 1
  loop
    raise warning 'The role % is not there any more, and was passed over.', gone;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_apply_grants() is
  'Internal, for migrations: gives the roles that gw-migrate grants has remembered what their kinds may do, and nothing else.';
