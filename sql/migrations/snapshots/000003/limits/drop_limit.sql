-- Drops a limit, with its pauses. Its waiting jobs start as if it had never been there.
-- Locks: what _gw_change_limits and _gw_lock_limits lock, for the tasks of the limit.
-- Raises GWLNM, GWLHB.
create or replace function {{.schema}}.drop_limit(name text)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  old {{.schema}}._gw_limits := {{.schema}}._gw_change_limit(name);
begin
  delete from {{.schema}}._gw_limits as i where i.id = old.id;
  -- Lanes of the old generation name these gates until their jobs have ended or become incoming.
  delete from {{.schema}}._gw_gates as g where g.limit_id = old.id;
  delete from {{.schema}}._gw_gate_ends as e where e.limit_id = old.id;
  delete from {{.schema}}._gw_pauses as p where p.limit_name = name;
  perform {{.schema}}._gw_settle(old.tasks);
  perform {{.schema}}._gw_record_act('drop limit', 0, name);
end;
$$;

comment on function {{.schema}}.drop_limit(text) is
  'Drops a limit, with its pauses.';
