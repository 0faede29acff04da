-- Roles that were granted rights to the tables after gw-migrate had looked for such roles.
create or replace function {{.schema}}._gw_find_lacking_roles()
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'role without rights',
         'role ' || d.role,
         format('It may %s on _private_jobs, but lacks rights that add_job and the other functions need to be called by it: %s.',
                array_to_string(d.privileges, ', '), array_to_string(d.lacks, ', ')),
         'Give it these, with: ' || (select string_agg(format('grant %s to %s;', l.right_to, d.role), ' ')
                                       from unnest(d.lacks) as l (right_to))
    from {{.schema}}._gw_direct_roles() as d
   where d.lacks <> '{}'
$$;

comment on function {{.schema}}._gw_find_lacking_roles() is 'Internal: roles that were granted rights to the tables after gw-migrate had looked for such roles.';
