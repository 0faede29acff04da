-- Opens, before its time, a lane of a limit that a worker has closed by rate_limited(); lane null: all closed lanes of the
-- limit. Returns the number of opened lanes. Their jobs may start at once. The function does not end a pause.
-- Records the act for list_audit if it opens a lane.
-- Locks: what _gw_change_limits and _gw_lock_limits lock, for the tasks of the limit.
-- Raises GWLNM, GWLHB.
create or replace function {{.schema}}.open_lane(limit_name text, lane text default null)
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  i      {{.schema}}._gw_limits := {{.schema}}._gw_change_limit(limit_name);
  opened integer[];
begin
  with gates as materialized (
    select g.id, g.closed_until from {{.schema}}._gw_gates as g where g.limit_id = i.id and (lane is null or g.key = lane)
  ), not_counted as ( -- calls of rate_limited at which no claim has looked yet
    update {{.schema}}._gw_gate_ends as e
       set closed_until = null
      from gates as g
     where e.gate_id = g.id and e.closed_until > clock_timestamp()
    returning g.id
  ), counted as (
    update {{.schema}}._gw_gates as g
       set closed_until = clock_timestamp()
      from gates as o
     where g.id = o.id and o.closed_until > clock_timestamp()
    returning g.id
  )
  select array_agg(u.id) into opened from (select n.id from not_counted as n union select c.id from counted as c) as u;
  if opened is null then
    return 0;
  end if;
  perform {{.schema}}._gw_look_at_gates(opened);
  perform {{.schema}}._gw_record_act('open lane', 0, limit_name || coalesce(', lane ' || lane, ''));
  return cardinality(opened);
end;
$$;

comment on function {{.schema}}.open_lane(text, text) is
  'Opens, before its time, a lane of a limit that a worker has closed by rate_limited(); lane null: all closed lanes of the limit. Returns the number of opened lanes.';
