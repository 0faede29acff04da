-- Drops a limit. Claims and heartbeats move its jobs out of its lanes in steps; a job does not run until it is moved.
-- Locks: the row of limits, so that only one transaction at a time changes them.
-- Raises GWLNM.
create or replace function {{.schema}}.drop_limit(
  name text
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if not {{.schema}}._gw_drop_limit(name) then
    raise exception 'There is no limit ''%''.', coalesce(name, 'null') using errcode = 'GWLNM';
  end if;
  perform {{.schema}}._gw_record_act('drop limit', 0, name);
end;
$$;

comment on function {{.schema}}.drop_limit(text) is
  'Drops a limit. Claims and heartbeats move its jobs out of its lanes in steps; a job does not run until it is moved.';

-- Implements drop_limit(), and drops the limits that pause() has created. Returns whether there was such a limit.
create or replace function {{.schema}}._gw_drop_limit(
  name text
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  old record;
begin
  update {{.schema}}._gw_limit_changes as c set changed_at = clock_timestamp();
  delete from {{.schema}}._gw_limits as i where i.name = name returning i.tasks, i.queues into old;
  if not found then
    return false;
  end if;
  delete from {{.schema}}._gw_pauses as p where p.limit_name = name;
  perform {{.schema}}._gw_plan_move(old.tasks, old.queues, false);
  return true;
end;
$$;

comment on function {{.schema}}._gw_drop_limit(text) is
  'Internal: drops a limit, also one that pause() has created. Returns whether there was such a limit.';
