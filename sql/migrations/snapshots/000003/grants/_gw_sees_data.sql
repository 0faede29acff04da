-- Returns whether the role that called a function of the schema for roles may see payloads and what comes from them:
-- the owner of the queue, its members, and those who are granted worker or admin. The functions for roles run as the
-- owner, so the role is that of SET ROLE, or else of the session; nobody can set a role of which he is no member.
create or replace function {{.schema}}._gw_sees_data()
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  owner  constant oid  := (select c.relowner from pg_class as c where c.oid = '{{ replace "'" "''" .schema }}._private_jobs'::regclass);
  caller constant name := coalesce(nullif(nullif(current_setting('role'), 'none'), ''), session_user);
begin
  if current_user <> pg_get_userbyid(owner) then
    return true; -- called directly: the rights of the caller apply
  end if;
  return pg_has_role(caller, owner, 'member')
         or exists (select from {{.schema}}._gw_grants as g
                      join pg_roles as r on r.rolname = g.role
                     where g.kind in ('worker', 'admin') and pg_has_role(caller, r.oid, 'usage'));
end;
$$;

comment on function {{.schema}}._gw_sees_data() is 'Internal: returns whether the role that called a function of the schema for roles may see payloads and what comes from them: the owner of the queue, its members, and those who are granted worker or admin.';
