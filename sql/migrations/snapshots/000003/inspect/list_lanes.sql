-- Returns the lanes of a limit after after_lane, by key, each with its running jobs, and why it starts no job now:
-- paused, closed, full or rate, until when. The lane null stands for all jobs. served_at: when a job was last started,
-- null if none was. waiting: how many due jobs of the lane do not run; if more_waiting is true, there are more than
-- that. barred: of the lanes that are closed, full, have used up their rate or are paused by their key those in which
-- most jobs wait, instead of all by key.
-- Raises GWILM (max_rows is negative).
create or replace function {{.schema}}.list_lanes(
  limit_name text,
  after_lane text    default null,
  max_rows   integer default 100,
  barred     boolean default false
)
  returns table (
    lane         text,
    is_total     boolean,
    max_running  integer,
    rate         integer,
    per          interval,
    burst        integer,
    running      bigint,
    job_ids      bigint[],
    reason       text,
    until        timestamptz,
    served_at    timestamptz,
    waiting      bigint,
    more_waiting boolean
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  the_limit integer;
  gate_ids  integer[];
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  the_limit := (select i.id from {{.schema}}._gw_limits as i where i.name = list_lanes.limit_name);
  gate_ids := array(
    select g.id
      from {{.schema}}._gw_gates as g
     where g.limit_id = the_limit and (after_lane is null or g.key > after_lane)
       and (barred is not true or g.running > 0 or g.closed_until > now_at or g.theoretic_at > now_at
            or exists (select from {{.schema}}._gw_gate_ends as e where e.gate_id = g.id and e.closed_until > now_at)
            or exists (select from {{.schema}}._gw_pauses as p where p.limit_name = list_lanes.limit_name and p.key = g.key))
     order by g.key nulls first, g.is_total
     limit case when barred then null else max_rows end);
  return query
  with running as (
    select r.gate_id, count(*) as jobs, array_agg(r.job_id order by r.job_id) as job_ids
      from {{.schema}}._gw_running_at(gate_ids) as r
     group by r.gate_id
  ), waiting as materialized (
    select w.* from {{.schema}}._gw_waiting_at(the_limit, now_at) as w
  )
  select s.key, s.is_total, s.max_running, s.rate, s.per, s.burst, coalesce(r.jobs, 0), r.job_ids, s.reason, s.opens_at,
         nullif(s.served_at, 'epoch'), coalesce(w.jobs, 0), coalesce(w.is_more, false)
    from {{.schema}}._gw_seen_gates(gate_ids, now_at) as s
    left join running as r on r.gate_id = s.gate_id
    left join waiting as w on w.is_total = s.is_total and w.key is not distinct from s.key
   where barred is not true or s.reason is not null
   order by case when barred then coalesce(w.jobs, 0) end desc, s.key nulls first, s.is_total
   limit max_rows;
end;
$$;

comment on function {{.schema}}.list_lanes(text, text, integer, boolean) is
  'Returns the lanes of a limit after after_lane, by key: what applies to each, the jobs that run in it, and why it starts no job now and until when. served_at: when a job was last started, null if none was. waiting: how many due jobs of the lane wait; more_waiting: more than that. barred: only lanes that start no job now, those in which most jobs wait first.';
