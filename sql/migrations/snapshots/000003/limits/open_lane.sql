-- Opens, before its time, a lane of a limit that a worker has closed by rate_limited(); lane null: all closed lanes of the
-- limit. Returns the number of opened lanes. Their jobs may start at once. The function does not end a pause.
-- Records the act for list_audit if it opens a lane.
-- Locks: the lanes by id, which claims hold briefly.
-- Raises GWLNM.
create or replace function {{.schema}}.open_lane(
  limit_name text,
  lane       text default null
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  opened integer[];
begin
  if not exists (select from {{.schema}}._gw_limits as i where i.name = limit_name) then
    raise exception 'There is no limit ''%''.', coalesce(limit_name, 'null') using errcode = 'GWLNM';
  end if;
  with lanes as materialized (
    select l.id
      from {{.schema}}._gw_limits as i
      join {{.schema}}._gw_lanes as l on l.limit_id = i.id
     where i.name = limit_name and (lane is null or l.key = lane) and l.closed_until > clock_timestamp()
     order by l.id
       for no key update of l
  ), changed as (
    update {{.schema}}._gw_lanes as l
       set closed_until = clock_timestamp()
      from lanes as o
     where l.id = o.id
    returning l.id
  )
  select array_agg(c.id) into opened from changed as c;
  if opened is null then
    return 0;
  end if;
  perform {{.schema}}._gw_look_at_lanes(opened);
  perform {{.schema}}._gw_wake(1);
  perform {{.schema}}._gw_record_act('open lane', 0, limit_name || coalesce(', lane ' || lane, ''));
  return cardinality(opened);
end;
$$;

comment on function {{.schema}}.open_lane(text, text) is
  'Opens, before its time, a lane of a limit that a worker has closed by rate_limited(); lane null: all closed lanes of the limit. Returns the number of opened lanes.';
