-- Returns the day on which a record made at this time may be dropped. Records that are kept for long are dropped by the
-- week or by the month, so that there are never more than about a hundred partitions.
create or replace function {{.schema}}._gw_drop_on(made_at timestamptz, keep_for interval)
  returns date language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  day constant date := (made_at at time zone 'UTC' + keep_for)::date + 1;
begin
  return case when keep_for <= interval '35 days' then day
              when keep_for <= interval '366 days' then date_trunc('week', day + 6)
              else date_trunc('month', day + interval '1 month - 1 day') end;
end;
$$;

-- Returns where jobs that end at this time are recorded first: one of three slots, for ten minutes each.
create or replace function {{.schema}}._gw_slot_at(at timestamptz)
  returns integer language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return (date_part('epoch', at)::bigint / 600) % 3;
end;
$$;

-- Returns where a job is or ran, as in "queue, limit:key": its queue, and for a running job with limits its lanes of
-- these. Null: in no queue and in no lane.
create or replace function {{.schema}}._gw_place_of(queue_id integer, job_id bigint)
  returns text language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
declare
  lane integer := queue_id;
begin
  if queue_id > 0 and pg_relation_size('{{ replace "'" "''" .schema }}._gw_queued_lanes'::regclass) > 0 then
    lane := (select q.lane_id from {{.schema}}._gw_queued_lanes as q where q.job_id = _gw_place_of.job_id);
  end if;
  return nullif(concat_ws(', ', {{.schema}}._gw_queue_name(queue_id, job_id),
                          case when lane <= -16 then
                            (select string_agg(concat_ws(':', i.name, g.key), ', ' order by g.limit_id, g.is_total, g.id)
                               from {{.schema}}._gw_lanes as l
                              cross join unnest(l.gates) as u (gate_id)
                               join {{.schema}}._gw_gates as g on g.id = u.gate_id
                               join {{.schema}}._gw_limits as i on i.id = g.limit_id
                              where l.id = lane)
                          end), '');
end;
$$;

-- Returns whether jobs with this job_queue_id may differ in their places: held ones in their queues, those of a queue
-- in their lanes. Callers inline it, which they can do because it is volatile, as pg_relation_size is.
create or replace function {{.schema}}._gw_has_own_place(queue_id integer)
  returns boolean language sql
as $$
  select case when queue_id operator(pg_catalog.>) 0
              then pg_catalog.pg_relation_size('{{ replace "'" "''" .schema }}._gw_queued_lanes'::pg_catalog.regclass) operator(pg_catalog.>) 0
              else queue_id operator(pg_catalog.>=) -15 and queue_id operator(pg_catalog.<=) -2 end
$$;
