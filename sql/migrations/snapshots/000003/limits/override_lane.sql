-- Overrides the numbers of a limit for one of its lanes, such as a higher maximum for one customer. Null: the number of the
-- limit.
-- Locks: the row of limits, so that only one transaction at a time changes them; the lane.
-- Raises GWLNM, GWLVA.
create or replace function {{.schema}}.override_lane(
  limit_name  text,
  lane        text,
  max_running integer  default null,
  rate        integer  default null,
  per         interval default null,
  burst       integer  default null
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  limit_id integer;
  lane_id  integer;
  wrong    text := case
    when lane is null then 'the lane must not be null'
    when max_running < 1 or rate < 1 or burst < 1 then 'its numbers must be at least 1'
    when (rate is null) <> (per is null) then 'rate and per belong together'
    when burst is not null and rate is null then 'burst needs a rate'
    when per <= interval '0' or per > interval '1000 years' then 'per must be positive and at most 1000 years'
  end;
begin
  if wrong is not null then
    raise exception 'The numbers of the lane ''%'' of the limit ''%'' are invalid: %.', lane, limit_name, wrong using errcode = 'GWLVA';
  end if;
  update {{.schema}}._gw_limit_changes as c set changed_at = clock_timestamp();
  select i.id into limit_id from {{.schema}}._gw_limits as i where i.name = limit_name and i.by is not null;
  if not found then
    raise exception 'There is no limit ''%'' with several lanes.', coalesce(limit_name, 'null') using errcode = 'GWLNM';
  end if;
  lane_id := {{.schema}}._gw_lane(limit_id, lane, false);
  update {{.schema}}._gw_lanes as l
     set max_running = max_running, rate = rate, per = per, burst = burst
   where l.id = lane_id;
  perform {{.schema}}._gw_look_at_lanes(array[lane_id]);
  perform {{.schema}}._gw_wake(1);
  perform {{.schema}}._gw_record_act('override lane', 0, limit_name || ', lane ' || lane || ': ' || coalesce(
    nullif(concat_ws(', ', 'max_running ' || max_running, 'rate ' || rate || ' per ' || per, 'burst ' || burst), ''), 'as the limit'));
end;
$$;

comment on function {{.schema}}.override_lane(text, text, integer, integer, interval, integer) is
  'Overrides max_running and rate of a limit for one of its lanes; null: the value of the limit.';
