-- Drops a function or a trigger of an earlier migration, and its record, so that it is not reported as missing. A
-- migration that removes a function, or changes its arguments or results, calls _gw_drop before it creates the new one.
-- If the object was already dropped by hand, only its record is deleted.
-- Raises undefined_object if the object is not recorded as ours.
create or replace function {{.schema}}._gw_drop(
  dropped text -- as in 'function _gw_names(text[])' or 'trigger _gw_queue_freed on _private_job_queues', without the schema
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  own       text := {{.schema}}._gw_namespace() || '.';
  known     text;
  statement text;
begin
  delete from {{.schema}}._gw_installed as i
   where replace(i.object, own, '') = dropped
  returning i.object into known;
  if known is null then
    raise exception 'No migration has created a % in schema %.', dropped, {{.schema}}._gw_namespace()
      using errcode = 'undefined_object', hint = 'Write it as in _gw_installed, without the schema.';
  end if;

  foreach statement in array array(select 'drop ' || o.object from {{.schema}}._gw_objects() as o where o.object = known) loop
    execute statement;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_drop(text) is 'Internal: drops a function or a trigger of an earlier migration, and its record, so that it is not reported as missing.';
