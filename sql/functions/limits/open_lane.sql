-- Opens, before its time, a lane of a limit that a worker has closed by rate_limited(); lane null: all closed lanes of
-- the limit. Returns the number of opened lanes. Their jobs may start at once. The function does not end a pause.
-- Records the act for list_audit if it opens a lane.
-- Locks: what _gw_change_limits and _gw_lock_limits lock, for the tasks of the limit.
-- Raises GWLNM, GWLHB.
create or replace function {{.schema}}.open_lane(
  limit_name text,
  lane       text default null
)
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  i      {{.schema}}._gw_limits := {{.schema}}._gw_change_limit(limit_name);
  opened bigint;
begin
  loop -- calls of rate_limited at which no claim has looked yet
    exit when {{.schema}}._gw_count_ends(array[i.id], clock_timestamp()) is null;
  end loop;
  update {{.schema}}._gw_gates as g
     set closed_until = clock_timestamp()
   where g.limit_id = i.id and (lane is null or g.key = lane) and g.closed_until > clock_timestamp();
  get diagnostics opened = row_count;
  perform {{.schema}}._gw_look_at_limits(array[i.id]);
  perform {{.schema}}._gw_record_act('open lane', 0, limit_name || coalesce(', lane ' || lane, '')) where opened > 0;
  return opened;
end;
$$;

comment on function {{.schema}}.open_lane(text, text) is
  'Opens, before its time, a lane of a limit that a worker has closed by rate_limited(); lane null: all closed lanes of the limit. Returns the number of opened lanes.';
