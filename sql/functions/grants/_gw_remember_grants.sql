-- Stores which roles are of a kind, with the tasks that these producers are limited to. _gw_apply_grants applies this.
create or replace function {{.schema}}._gw_remember_grants(kind text, roles text[], tasks text[] default '{}')
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  name  text;
  owner oid := (select c.relowner
                  from pg_class as c
                 where c.relname = '_private_jobs' and c.relnamespace = {{.schema}}._gw_namespace());
begin
  if _gw_remember_grants.kind is null
     or _gw_remember_grants.kind not in ('producer', 'worker', 'scheduler', 'monitor', 'admin') then
    raise exception 'There is no kind of role ''%''; the kinds are producer, worker, scheduler, monitor and admin.',
                    _gw_remember_grants.kind
      using errcode = 'invalid_parameter_value';
  end if;
  if _gw_remember_grants.tasks <> '{}' and _gw_remember_grants.kind <> 'producer' then
    raise exception 'Only producers can be limited to tasks.' using errcode = 'invalid_parameter_value';
  end if;
  foreach name in array _gw_remember_grants.roles loop
    if not exists (select from pg_roles as r where r.rolname = name) then
      raise exception 'There is no role ''%''.', name
        using errcode = 'undefined_object', hint = format('Create it first: create role %I login;', name);
    end if;
    if pg_has_role(name::name, owner, 'member') then
      raise exception 'The role ''%'' is a superuser, or the owner of the queue, or a member of its owner.', name
        using errcode = 'invalid_parameter_value', hint = 'Its privileges cannot be limited; name another role.';
    end if;
  end loop;
  foreach name in array _gw_remember_grants.tasks loop
    if name is null or name = '' or octet_length('enqueue_' || name) > 63 then
      raise exception 'Task ''%'': the name of its function, enqueue_<task>, must have at most 63 bytes.', name
        using errcode = 'name_too_long', hint = 'Let this producer enqueue all tasks, or give the task a shorter name.';
    end if;
  end loop;

  insert into {{.schema}}._gw_grants (role, kind, tasks)
  select distinct r.name, _gw_remember_grants.kind, _gw_remember_grants.tasks
    from unnest(_gw_remember_grants.roles) as r (name)
      on conflict (role, kind) do update set tasks = excluded.tasks;
end;
$$;
