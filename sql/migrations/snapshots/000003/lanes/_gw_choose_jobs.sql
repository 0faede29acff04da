-- Decides what becomes of the candidates of a claim, in their order: each takes its places at its gates and starts, or
-- goes into its lane, or stays where it is: in its queue, or incoming if no limit of its task has by. chosen: those
-- that start, most at most, and those that go into their lanes. lane_ids: open lanes that have no job or whose gates
-- are full. more: another round may start more. If an open lane has no job any more, its room is kept for the lanes
-- that wait for it, which the next round opens: incoming jobs do not use it in this round.
create or replace function {{.schema}}._gw_choose_jobs(
  candidates {{.schema}}._gw_candidate[], most integer, at timestamptz, out chosen {{.schema}}._gw_candidate[],
  out lane_ids integer[], out more boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  c        {{.schema}}._gw_candidate;
  gate_ids integer[];
  rooms    integer[]; -- of these gates; null: without a limit
  kept     integer[] := array[]::integer[]; -- gates for lanes that come first
  is_full  boolean;
  starts   integer := 0;
begin
  chosen := array[]::{{.schema}}._gw_candidate[];
  lane_ids := array[]::integer[];
  more := false;
  -- In a statement of its own: with a subquery as its argument, _gw_gate_rooms is not inlined, and planned in each
  -- call.
  gate_ids := array(select distinct g.id from unnest(candidates) as u cross join unnest(u.gates) as g (id));
  select array_agg(r.gate_id), array_agg(r.room) into gate_ids, rooms from {{.schema}}._gw_gate_rooms(gate_ids, at) as r;
  foreach c in array candidates loop
    if c.lane_id = 0 then -- its number was in use
      more := true;
    elsif c.place is null then
      lane_ids := lane_ids || c.lane_id;
      kept := kept || c.gates;
      more := true;
    elsif c.parks or starts < most then
      is_full := c.parks or c.is_incoming and c.gates && kept;
      for i in 1 .. coalesce(cardinality(c.gates), 0) loop
        is_full := is_full or rooms[array_position(gate_ids, c.gates[i])] <= 0 is true;
      end loop;
      c.starts := is_full is not true;
      if c.starts then
        for i in 1 .. coalesce(cardinality(c.gates), 0) loop
          rooms[array_position(gate_ids, c.gates[i])] := rooms[array_position(gate_ids, c.gates[i])] - 1;
        end loop;
        starts := starts + 1;
      elsif not (c.parks or c.is_incoming) and c.queue_id is null then -- of an open lane
        lane_ids := lane_ids || c.lane_id;
      end if;
      if c.starts or c.parks or c.is_incoming and c.waits then
        chosen := chosen || c;
      end if;
      more := more or not c.starts and (c.parks or c.waits);
    end if;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_choose_jobs({{.schema}}._gw_candidate[], integer, timestamptz) is 'Internal: decides what becomes of the candidates of a claim, in their order: each takes its places at its gates and starts, or goes into its lane, or stays where it is: in its queue, or incoming if no limit of its task has by.';
