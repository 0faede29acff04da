-- Row level security hides the queue from all roles except its owner. In that case no other finding is possible.
create or replace function {{.schema}}._gw_find_hidden_queue()
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'hidden queue',
         'role ' || quote_ident(current_user),
         'This role does not own the queue and sees no rows of it, so nothing was examined.',
         format('Ask again as the owner, with: set role %I;', pg_get_userbyid(c.relowner))
    from pg_class as c
   where c.relname = '_private_jobs'
     and c.relnamespace = {{.schema}}._gw_namespace()
     and row_security_active(c.oid)
$$;

comment on function {{.schema}}._gw_find_hidden_queue() is
  'Internal, for doctor(): whether row level security hides the queue from this role.';
