-- Roles other than the owner that have privileges on _private_jobs which gw has not granted, as with Graphile Worker:
-- they call the functions that Graphile Worker also has, and run Node workers. gw's versions of these functions read
-- two tables of gw, draw ids and call functions of gw, for which default privileges may have revoked EXECUTE.
-- lacks has the privileges that such a role does not have yet and needs for these calls, in the words of GRANT; a role
-- that only reads lacks nothing. None of these privileges lets a role change jobs in a new way. Names are quoted.
-- gw-migrate also runs this query before the queue is installed, so it must not call other functions of the queue.
create or replace function {{.schema}}._gw_direct_roles()
  returns table (role text, privileges text[], lacks text[]) language sql stable set search_path = pg_catalog, pg_temp
as $$
  with queue as (
    select c.oid, c.relowner, c.relacl, c.relnamespace
      from pg_catalog.pg_class as c
     where c.oid = pg_catalog.to_regclass('{{ replace "'" "''" .schema }}._private_jobs')
  ), direct as (
    select case x.grantee when 0 then 'public' else pg_get_userbyid(x.grantee) end as name,
           array_agg(distinct lower(x.privilege_type) order by lower(x.privilege_type)) as privileges
      from queue
     cross join lateral (select queue.relacl
                         union all
                         select a.attacl from pg_catalog.pg_attribute as a where a.attrelid = queue.oid) as l (list)
     cross join lateral aclexplode(l.list) as x
     where x.grantee <> queue.relowner
     group by x.grantee
  ), needed as (
    select d.name, 1 as step, format('%s on table %s', array_to_string(n.rights, ', '), c.oid::regclass) as right_to
      from direct as d
     cross join queue
     cross join (values ('_gw_settings', array['select']), ('_gw_sleepers', array['select']),
                        ('_gw_audit', array['select', 'insert', 'update'])) as n (relname, rights)
      join pg_catalog.pg_class as c on c.relnamespace = queue.relnamespace and c.relname = n.relname
     where d.privileges && array['insert', 'update', 'delete']
       and exists (select from unnest(n.rights) as r (name) where not has_table_privilege(d.name, c.oid, r.name))
    union all
    select d.name, 2, format('usage on sequence %s', c.oid::regclass)
      from direct as d
     cross join queue
      join pg_catalog.pg_class as c
        on c.relnamespace = queue.relnamespace and c.relname = 'jobs_id_seq1'
     where 'insert' = any (d.privileges)
       and not has_sequence_privilege(d.name, c.oid, 'usage')
    union all
    select d.name, 3, format('execute on function %s', p.oid::regprocedure)
      from direct as d
     cross join queue
      join pg_catalog.pg_proc as p
        on p.pronamespace = queue.relnamespace
       and p.proname in ('setting', '_gw_add_keyed_job', '_gw_add_keyed_jobs', '_gw_check_payload', '_gw_check_specs',
                         '_gw_check_worker_id', '_gw_draw_job_ids', '_gw_flags', '_gw_hold_names', '_gw_incoming',
                         '_gw_insert_keyed_jobs', '_gw_job_is_refused', '_gw_joined_payload', '_gw_keep_steps',
                         '_gw_keeps', '_gw_keyed_specs', '_gw_known_settings', '_gw_lock_keyed_jobs', '_gw_make_names',
                         '_gw_merged_payload', '_gw_name_lock', '_gw_namespace', '_gw_note_attempts', '_gw_record_act',
                         '_gw_refuse_job', '_gw_release_gates', '_gw_replace_keyed_jobs', '_gw_retire',
                         '_gw_suspect_again', '_gw_take_paused', '_gw_unheld', '_gw_unstarted_jobs', '_gw_wake',
                         '_gw_wake_for')
     where d.privileges && array['insert', 'update', 'delete']
       and not has_function_privilege(d.name, p.oid, 'execute')
  )
  select quote_ident(d.name), d.privileges,
         array(select n.right_to from needed as n where n.name = d.name order by n.step, n.right_to)
    from direct as d
   order by d.name
$$;

comment on function {{.schema}}._gw_direct_roles() is 'Internal: roles other than the owner that have privileges on _private_jobs which gw has not granted, as with Graphile Worker: they call the functions that Graphile Worker also has, and run Node workers.';

-- Grants these roles the privileges that they lack, and records them in _gw_shared_rights, so that they can be revoked
-- when gw is removed from the schema. Each migration that creates functions calls it at its end, because these roles
-- may be in use. After gw-migrate grants has revoked the privileges of public, these roles also lack the functions that
-- Graphile Worker has.
create or replace function {{.schema}}._gw_share_rights()
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  statement text;
begin
  insert into {{.schema}}._gw_shared_rights (role, right_to)
  select d.role, l.right_to
    from {{.schema}}._gw_direct_roles() as d
   cross join unnest(d.lacks) as l (right_to)
  union all
  select d.role, format('execute on function %s', p.oid::regprocedure)
    from {{.schema}}._gw_direct_roles() as d
    join pg_proc as p
      on p.pronamespace = {{.schema}}._gw_namespace()
     and p.proname in ('add_job', 'add_jobs', 'remove_job', 'complete_jobs', 'permanently_fail_jobs', 'reschedule_jobs',
                       'force_unlock_workers')
   where d.privileges && array['insert', 'update', 'delete']
     and exists (select from {{.schema}}._gw_grants)
     and not has_function_privilege((parse_ident(d.role))[1], p.oid, 'execute')
      on conflict on constraint _gw_shared_rights_pkey do nothing;
  foreach statement in array array(
    select format('grant %s to %s', s.right_to, s.role)
      from {{.schema}}._gw_shared_rights as s
      join {{.schema}}._gw_direct_roles() as d on d.role = s.role
     where s.right_to not like 'execute on function %' or to_regprocedure(substr(s.right_to, 21)) is not null)
  loop
    execute statement;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_share_rights() is 'Internal: grants these roles the privileges that they lack, and records them in _gw_shared_rights, so that they can be revoked when gw is removed from the schema.';
