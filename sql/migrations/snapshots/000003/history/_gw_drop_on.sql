-- Returns the day on which a record made at this time may be dropped. Records that are kept for long are dropped by the week
-- or by the month, so that there are never more than about a hundred partitions.
create or replace function {{.schema}}._gw_drop_on(
  made_at  timestamptz,
  keep_for interval
)
  returns date
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
declare
  day constant date := (made_at at time zone 'UTC' + keep_for)::date + 1;
begin
  return case when keep_for <= interval '35 days' then day
              when keep_for <= interval '366 days' then date_trunc('week', day + 6)
              else date_trunc('month', day + interval '1 month - 1 day') end;
end;
$$;

comment on function {{.schema}}._gw_drop_on(timestamptz, interval) is
  'Internal: returns the day on which a record of the history may be dropped.';

-- Returns where jobs that end at this time are recorded first: one of three slots, for ten minutes each.
create or replace function {{.schema}}._gw_slot_at(
  at timestamptz
)
  returns integer
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return (date_part('epoch', at)::bigint / 600) % 3;
end;
$$;

comment on function {{.schema}}._gw_slot_at(timestamptz) is
  'Internal: returns the slot of _gw_ended for jobs that end at this time.';

-- Returns the queue of a job by its job_queue_id, or, for a job with limits, its queue and lanes as in "queue, limit:key".
create or replace function {{.schema}}._gw_place_of(
  queue_id integer
)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
begin
  return case when queue_id > 0 then (select q.queue_name from {{.schema}}._private_job_queues as q where q.id = queue_id)
              else (select concat_ws(', ', g.queue_name,
                                     (select string_agg(concat_ws(':', i.name, l.key), ', ' order by l.id)
                                        from {{.schema}}._gw_lanes as l
                                        join {{.schema}}._gw_limits as i on i.id = l.limit_id
                                       where l.id = any (g.lanes)))
                      from {{.schema}}._gw_groups as g where g.id = queue_id) end;
end;
$$;

comment on function {{.schema}}._gw_place_of(integer) is
  'Internal: returns the queue and the lanes of a job by its job_queue_id.';
