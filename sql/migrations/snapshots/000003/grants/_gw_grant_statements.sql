-- Returns the statements that bring the schema for roles, and all privileges, to the stored state. They work from any
-- state: after a migration, after a repair, and where default privileges grant too much.

create or replace function {{.schema}}._gw_grant_statements()
  returns setof text language plpgsql stable
  set search_path = pg_catalog, pg_temp set quote_all_identifiers = off
as $$
declare
  api       text    := {{.schema}}._gw_api_schema();
  is_there  boolean := exists (select from pg_namespace as n where n.nspname = {{.schema}}._gw_api_schema());
  is_wanted boolean := exists (select from {{.schema}}._gw_grants);
  mark      text    := 'What roles may do with the queue in schema ' || {{.schema}}._gw_namespace() || '; made by gw-migrate grants.';
begin
  if is_wanted and octet_length(api) > 63 then
    raise exception 'The name of the schema for roles, %, would have more than 63 bytes.', quote_ident(api)
      using errcode = 'name_too_long', hint = 'Install the queue in a schema with a shorter name.';
  end if;
  if is_there and obj_description(quote_ident(api)::regnamespace, 'pg_namespace') is distinct from mark then
    if not is_wanted then
      return;
    end if;
    if exists (select from pg_class as c where c.relnamespace = quote_ident(api)::regnamespace)
       or exists (select from pg_proc as p where p.pronamespace = quote_ident(api)::regnamespace) then
      raise exception 'The schema % contains other objects.', quote_ident(api)
        using errcode = 'duplicate_schema', hint = 'Rename it, or install the queue in a schema with another name.';
    end if;
  end if;

  if is_wanted then
    if not is_there then
      return next format('create schema %I', api);
    end if;
    return next format('comment on schema %I is %L', api, mark);
  end if;
  if is_there then
    return query select d.statement from {{.schema}}._gw_spare_statements(api) as d;
  end if;
  if is_wanted then
    return query select m.statement from {{.schema}}._gw_make_statements(api) as m;
    return query select p.statement from {{.schema}}._gw_privilege_statements(api) as p;
  elsif is_there then
    return next format('drop schema %I', api);
    return next format('grant execute on all routines in schema %s to public', {{.schema}}._gw_namespace());
  end if;
end;
$$;

comment on function {{.schema}}._gw_grant_statements() is
  'Internal, for gw-migrate grants: returns the statements that bring all privileges to the stored state.';

-- Drops obsolete or changed functions and the views on them. Objects of other owners that depend on them are not
-- dropped.
create or replace function {{.schema}}._gw_spare_statements(api text)
  returns table (statement text) language sql stable set search_path = pg_catalog, pg_temp
as $$
  with spare as (
    select p.proname, pg_get_function_identity_arguments(p.oid) as signature,
           case p.prokind when 'p' then 'procedure' else 'function' end as kind
      from pg_proc as p
     where p.pronamespace = quote_ident(api)::regnamespace
       and not exists (select from {{.schema}}._gw_api_functions() as f
                        where f.name = p.proname
                          and f.arguments = pg_get_function_arguments(p.oid)
                          and f.result is not distinct from pg_get_function_result(p.oid))
  )
  select d.statement
    from (select 1, format('drop view %I.%I', api, c.relname)
            from pg_class as c
           where c.relnamespace = quote_ident(api)::regnamespace and c.relkind = 'v'
             and (not exists (select from {{.schema}}._gw_api_views() as v where v.name = c.relname)
                  or exists (select from {{.schema}}._gw_api_views() as v
                               join spare as s on s.proname = v.source
                              where v.name = c.relname))
          union all
          select 2, format('drop %s %I.%I(%s)', s.kind, api, s.proname, s.signature) from spare as s) as d (step, statement)
   order by d.step, d.statement
$$;

comment on function {{.schema}}._gw_spare_statements(text) is 'Internal: drops obsolete or changed functions and the views on them.';

create or replace function {{.schema}}._gw_make_statements(api text)
  returns table (statement text) language sql stable set search_path = pg_catalog, pg_temp
as $$
  select m.statement
    from {{.schema}}._gw_api_functions() as f
    left join {{.schema}}._gw_api_views() as v on v.source = f.name
   cross join lateral (values
     (1, f.name, case when f.result is null
                      then format(e'create or replace procedure %I.%I(%s)\n  language plpgsql as %L', api, f.name, f.arguments, f.body)
                      else format(e'create or replace function %I.%I(%s)\n  returns %s\n  language plpgsql\n  %s\n  security %s\n'
                                  '  set search_path = pg_catalog, pg_temp as %L',
                                  api, f.name, f.arguments, f.result, f.volatility, f.security, f.body) end),
     (2, f.name, format('comment on %s %I.%I(%s) is %L', case when f.result is null then 'procedure' else 'function' end, api, f.name, f.signature, f.about)),
     (3, v.name, format('create or replace view %I.%I as select * from %1$I.%3$I() as f', api, coalesce(v.name, ''), f.name)),
     (4, v.name, format('comment on view %I.%I is %L', api, coalesce(v.name, ''), f.about))) as m (step, name, statement)
   where m.name is not null
   order by m.step, m.name
$$;

comment on function {{.schema}}._gw_make_statements(text) is
  'Internal, for grants: returns the statements that create the objects of the schema for roles.';

-- Revokes all privileges from all roles except the owner, then grants by name. In the queue's own schema it revokes
-- only from public and from the stored roles; privileges that other roles were granted by hand stay.
create or replace function {{.schema}}._gw_privilege_statements(api text)
  returns table (statement text) language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  known  text;
  others text;
  kind   text;
begin
  select string_agg(distinct quote_ident(r.rolname), ', ')
    into known
    from {{.schema}}._gw_grants as g
    join pg_roles as r on r.rolname = g.role;
  -- Roles that have a privilege on an object or by default.
  select string_agg(distinct quote_ident(r.rolname), ', ')
    into others
    from (select n.nspacl from pg_namespace as n where n.nspname = api
          union all
          select p.proacl from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace where n.nspname = api
          union all
          select c.relacl from pg_class as c join pg_namespace as n on n.oid = c.relnamespace where n.nspname = api
          union all
          select d.defaclacl from pg_default_acl as d) as a (list)
   cross join aclexplode(a.list) as x
    join pg_roles as r on r.oid = x.grantee
   where r.rolname <> current_user;

  foreach kind in array array['schema', 'all tables in schema', 'all sequences in schema', 'all routines in schema'] loop
    return query values
      (format('revoke all on %s %s from %s', kind, {{.schema}}._gw_namespace(), concat_ws(', ', 'public', known))),
      (format('revoke all on %s %I from %s', kind, api, concat_ws(', ', 'public', known, others)));
  end loop;
  if known is null then
    return;
  end if;

  statement := format('grant usage on schema %I to %s', api, known);
  return next;
  return query
  select format(g.template, api, g.name, g.signature, u.names)
    from {{.schema}}._gw_api_functions() as f
    left join {{.schema}}._gw_api_views() as v on v.source = f.name
   cross join lateral (
          select string_agg(quote_ident(r.name), ', ' order by r.name) from unnest(f.roles) as r (name)) as u (names)
   cross join lateral (values
     (1, f.name, f.signature, format('grant execute on %s %%I.%%I(%%s) to %%s', case when f.result is null then 'procedure' else 'function' end)),
     (2, v.name, null,        'grant select on %I.%I to %4$s')) as g (step, name, signature, template)
   where g.name is not null
   order by g.step, g.name;
end;
$$;

comment on function {{.schema}}._gw_privilege_statements(text) is 'Internal: revokes all privileges from all roles except the owner, then grants by name.';
