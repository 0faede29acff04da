-- Overrides the numbers of a limit for one of its lanes, such as a higher maximum for one customer. Null: the number of
-- the limit; a rate without burst has itself as its burst.
-- Locks: what _gw_change_limits and _gw_lock_limits lock, for the tasks of the limit.
-- Raises GWLNM, GWLVA, GWLHB.
create or replace function {{.schema}}.override_lane(
  limit_name  text,
  lane        text,
  max_running integer  default null,
  rate        integer  default null,
  per         interval default null,
  burst       integer  default null
)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  at    timestamptz;
  i     {{.schema}}._gw_limits;
  wrong text := case when lane is null then 'the lane must not be null'
                     else {{.schema}}._gw_wrong_numbers(max_running, rate, per, burst) end;
begin
  if wrong is not null then
    raise exception 'The numbers of the lane ''%'' of the limit ''%'' are invalid: %.', lane, limit_name, wrong using errcode = 'GWLVA';
  end if;
  i := {{.schema}}._gw_change_limit(limit_name, keyed => true);
  insert into {{.schema}}._gw_gates (limit_id, key, theoretic_at) values (i.id, lane, i.theoretic_at) on conflict do nothing;
  at := clock_timestamp();
  update {{.schema}}._gw_gates as g
     set max_running = max_running, rate = rate, per = per, burst = burst,
         theoretic_at = {{.schema}}._gw_rescaled(
           g.theoretic_at, at,
           {{.schema}}._gw_charge(coalesce(g.burst, g.rate, i.burst, i.rate), coalesce(g.rate, i.rate), coalesce(g.per, i.per)),
           {{.schema}}._gw_charge(coalesce(burst, rate, i.burst, i.rate), coalesce(rate, i.rate), coalesce(per, i.per)))
   where g.limit_id = i.id and not g.is_total and coalesce(g.key, '') = lane and g.key is not null;
  perform {{.schema}}._gw_look_at_limits(array[i.id]);
  perform {{.schema}}._gw_record_act('override lane', 0, limit_name || ', lane ' || lane || ': ' || coalesce(
    nullif(concat_ws(', ', 'max_running ' || max_running, 'rate ' || rate || ' per ' || per, 'burst ' || burst), ''), 'as the limit'));
end;
$$;

comment on function {{.schema}}.override_lane(text, text, integer, integer, interval, integer) is
  'Overrides max_running and rate of a limit for one of its lanes; null: the value of the limit.';
