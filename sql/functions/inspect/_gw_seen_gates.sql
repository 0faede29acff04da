-- For people: what a limit says of its gates now. Claims use _gw_gate_rooms, which is the same once the claim has
-- counted the jobs that have ended; these functions count them without changing anything.

-- Returns these gates as the next claim will find them: what applies to each, how many jobs it counts, and why it
-- starts none and until when (null: at no known time). reason: paused, closed, full or rate. kept_until: until when it
-- counts jobs of dead workers, because the limit is strict.
create or replace function {{.schema}}._gw_seen_gates(gate_ids integer[], at timestamptz)
  returns table (
    gate_id integer, limit_id integer, limit_name text, key text, is_total boolean, max_running integer, rate integer,
    per interval, burst integer, running integer, served_at timestamptz, kept_until timestamptz, reason text,
    opens_at timestamptz) language plpgsql stable rows 20 set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = on
  set jit = off
as $$
begin
  return query
  select g.id, g.limit_id, g.name, g.key, g.is_total, g.width, g.rate, g.per, g.burst, c.running, g.served_at, g.kept_until, b.reason,
         case b.reason when 'paused' then nullif(p.until, 'infinity')
                       when 'closed' then c.closed_until
                       when 'rate' then c.free_at end
    from (select g.id, g.limit_id, l.name, g.key, g.is_total, g.running, g.theoretic_at, g.closed_until, g.served_at, e.*,
                 coalesce(g.max_running, case when g.is_total then l.total_running else l.max_running end) as width,
                 case when not g.is_total then coalesce(g.rate, l.rate) end as rate,
                 case when not g.is_total then coalesce(g.per, l.per) end as per,
                 case when not g.is_total then coalesce(g.burst, g.rate, l.burst, l.rate) end as burst
            from {{.schema}}._gw_gates as g
            join {{.schema}}._gw_limits as l on l.id = g.limit_id
           cross join lateral (
                  select coalesce(sum(e.jobs) filter (where e.at <= _gw_seen_gates.at), 0)::integer as ended,
                         coalesce(sum(e.returned) filter (where e.at <= _gw_seen_gates.at), 0)::integer as returned,
                         max(e.closed_until) as closed_later,
                         max(e.at) filter (where e.at > _gw_seen_gates.at and e.jobs > 0) as kept_until
                    from {{.schema}}._gw_gate_ends as e
                   where e.gate_id = g.id) as e
           where g.id = any (gate_ids)) as g
   cross join lateral (
          select greatest(0, g.running - g.ended) as running, greatest(g.closed_until, g.closed_later) as closed_until,
                 case when g.rate is not null then
                   g.theoretic_at - {{.schema}}._gw_charge(g.returned, g.rate, g.per) - {{.schema}}._gw_charge(g.burst - 1, g.rate, g.per)
                 end as free_at) as c
   cross join lateral (
          select max(coalesce(p.until, 'infinity')) as until
            from {{.schema}}._gw_pauses as p
           where p.limit_name = g.name and (p.key is null or p.key = g.key)
             and coalesce(p.until, 'infinity') > _gw_seen_gates.at) as p
   cross join lateral (
          select case when p.until is not null then 'paused'
                      when c.closed_until > _gw_seen_gates.at then 'closed'
                      when c.running >= g.width then 'full'
                      when c.free_at > _gw_seen_gates.at then 'rate' end as reason) as b;
end;
$$;

-- Returns the gates that each of these jobs passes by the present limits: limit by limit, with what _gw_seen_gates says
-- of them. A job that no claim has looked at may pass gates that do not exist yet: gate_id is null, and nothing runs
-- there.
create or replace function {{.schema}}._gw_gates_of_jobs(job_ids bigint[], at timestamptz)
  returns table (
    job_id bigint, limit_id integer, limit_name text, key text, is_total boolean, is_fair boolean, gate_id integer,
    running integer, served_at timestamptz, kept_until timestamptz, reason text, opens_at timestamptz) language plpgsql
  stable rows 20 set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_nestloop = off -- thousands of gates have few rows by the planner's guess
  set jit = off
as $$
begin
  return query
  with tasks as materialized (
    select t.task_id, t.limit_ids
      from (select distinct j.task_id from {{.schema}}._private_jobs as j where j.id = any (job_ids)) as u
     cross join lateral {{.schema}}._gw_limits_of(u.task_id) as t
  ), passed as materialized (
    select j.id as job_id, g.limit_id, g.key, g.is_total, g.is_fair, g.gate_id
      from {{.schema}}._private_jobs as j
      join tasks as t on t.task_id = j.task_id
     cross join lateral {{.schema}}._gw_gates_of(t.limit_ids, j.payload, j.flags) as g
     where j.id = any (job_ids)
  ), seen as materialized (
    select s.* from {{.schema}}._gw_seen_gates(array(select distinct p.gate_id from passed as p where p.gate_id is not null), at) as s
  )
  select p.job_id, p.limit_id, l.name, p.key, p.is_total, p.is_fair, p.gate_id, coalesce(s.running, 0),
         coalesce(s.served_at, 'epoch'), s.kept_until,
         case when s.gate_id is not null then s.reason when o.until is not null then 'paused' end,
         case when s.gate_id is not null then s.opens_at else nullif(o.until, 'infinity') end
    from passed as p
    join {{.schema}}._gw_limits as l on l.id = p.limit_id
    left join seen as s on s.gate_id = p.gate_id
   cross join lateral (
          select max(coalesce(e.until, 'infinity')) as until
            from {{.schema}}._gw_pauses as e
           where p.gate_id is null and e.limit_name = l.name and (e.key is null or e.key = p.key)
             and coalesce(e.until, 'infinity') > _gw_gates_of_jobs.at) as o;
end;
$$;
