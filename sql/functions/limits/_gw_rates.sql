-- Returns what is wrong with numbers of a limit or of one of its lanes, as a part of an error; null: nothing. The last
-- check keeps every time that a rate yields within the range of a timestamp.
create or replace function {{.schema}}._gw_wrong_numbers(max_running integer, rate integer, per interval, burst integer)
  returns text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when max_running < 1 or rate < 1 or burst < 1 then 'its numbers must be at least 1'
    when (rate is null) <> (per is null) then 'rate and per belong together'
    when burst is not null and rate is null then 'burst needs a rate'
    when extract(epoch from per) not between 0.000001 and 31557600000 then 'per must be positive and at most 1000 years'
    when burst / rate::double precision * extract(epoch from per) > 31557600000 then 'burst times per by rate must be at most 1000 years'
  end;
end;
$$;

-- Returns theoretic_at of a gate after a change of its rate. old_span and new_span: the charge of the whole burst
-- before and after; null: no rate. The share of the burst that is owed stays the same, so that the new rate counts at
-- once and the burst is not given twice. While there is no rate, what was owed stays as it is, for a later rate.
create or replace function {{.schema}}._gw_rescaled(
  theoretic_at timestamptz, at timestamptz, old_span interval, new_span interval)
  returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when new_span is null or new_span = old_span or theoretic_at <= at then theoretic_at
    when old_span is null then least(theoretic_at, at + new_span)
    else at + new_span * least(1, extract(epoch from theoretic_at - at)::double precision / extract(epoch from old_span)::double precision)
  end;
end;
$$;

-- For sweeps: what a clock that was ahead has left in gates of these limits, which the caller holds, counts as now. A
-- rate owes at most a burst.
create or replace function {{.schema}}._gw_set_back_rates(limit_ids integer[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  at constant timestamptz := clock_timestamp();
begin
  update {{.schema}}._gw_gates as g
     set theoretic_at = at
   where g.limit_id = any (limit_ids) and g.theoretic_at > at + interval '1 second'
     and g.theoretic_at > (select {{.schema}}._gw_charge(coalesce(g.burst, g.rate, l.burst, l.rate), coalesce(g.rate, l.rate), coalesce(g.per, l.per))
                                  + at + interval '1 second'
                             from {{.schema}}._gw_limits as l
                            where l.id = g.limit_id);
  update {{.schema}}._gw_gates as g set served_at = at where g.limit_id = any (limit_ids) and g.served_at > at + interval '1 second';
  perform {{.schema}}._gw_set_turns(array(select g.id from {{.schema}}._gw_gates as g where g.limit_id = any (limit_ids))) where found;
  update {{.schema}}._gw_limits as l
     set theoretic_at = at
   where l.id = any (limit_ids) and l.theoretic_at > at + {{.schema}}._gw_charge(coalesce(l.burst, l.rate), l.rate, l.per) + interval '1 second';
end;
$$;
