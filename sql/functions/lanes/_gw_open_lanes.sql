-- For a claim: opens as many of the lanes of these tasks that wait for one of these gates as it has room. The caller
-- holds the limits.
create or replace function {{.schema}}._gw_open_lanes(
  gate_ids integer[], tasks {{.schema}}._gw_limited_task[], most integer, at timestamptz)
  returns void language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  gate_ids := {{.schema}}._gw_waited_for(gate_ids);
  if gate_ids = '{}' then
    return;
  end if;
  update {{.schema}}._gw_lanes as l
     set gate = null
   where l.ctid = any (array(
           select w.ctid
             from {{.schema}}._gw_gate_rooms(gate_ids, at) as r
            cross join unnest(tasks) as t
            cross join lateral (
                  select l.ctid
                    from {{.schema}}._gw_lanes as l
                   where l.gate = r.gate_id and l.gate > 0 and l.task_id = t.task_id and l.generation = t.generation
                   order by l.priority, l.running, l.served_at, l.run_at, l.job_id
                   limit least(r.room, most)) as w
            where r.room is distinct from 0));
end;
$$;

-- Returns those of these gates, each once, for which lanes wait.
create or replace function {{.schema}}._gw_waited_for(gate_ids integer[])
  returns integer[] language plpgsql stable
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  return array(select distinct u.id
                 from unnest(gate_ids) as u (id)
                where (select true from {{.schema}}._gw_lanes as l where l.gate = u.id and l.gate > 0 limit 1));
end;
$$;

-- Changes these gates, each of which is named once, and returns them, null if there are none. The caller holds the
-- limits. A join by id may be planned while the tables are empty; then it reads all gates for each row. A join by ctid
-- has the same plan whatever the estimates are.
create or replace function {{.schema}}._gw_count_at_gates(changes {{.schema}}._gw_gate_change[])
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- callers set the planner options
as $$
declare
  gate_ids integer[];
begin
  with changed as (
    update {{.schema}}._gw_gates as g
       set running      = greatest(0, g.running + c.jobs),
           closed_until = greatest(g.closed_until, c.closed_until),
           served_at    = coalesce(c.served_at, g.served_at),
           theoretic_at = coalesce(greatest(g.theoretic_at, c.served_at) + (
                            select {{.schema}}._gw_charge(c.charged, coalesce(g.rate, l.rate), coalesce(g.per, l.per))
                              from {{.schema}}._gw_limits as l
                             where l.id = g.limit_id and not g.is_total), g.theoretic_at) -- without a rate
      from unnest(changes) as c
     cross join lateral (select o.ctid from {{.schema}}._gw_gates as o where o.id = c.gate_id offset 0) as o
     where g.ctid = o.ctid
    returning g.id
  )
  select array_agg(c.id) into gate_ids from changed as c;
  return gate_ids;
end;
$$;

-- Counts what has ended at the gates of these limits, which the caller holds, and returns these gates, null if there
-- are none. At most 500 rows of a limit; the others are for the next claim.
create or replace function {{.schema}}._gw_count_ends(held integer[], at timestamptz)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  changes  {{.schema}}._gw_gate_change[];
  gate_ids integer[];
begin
  with gone as (
    delete from {{.schema}}._gw_gate_ends as e
     where e.ctid = any (array(
             select d.ctid
               from unnest(held) as h (id)
              cross join lateral (
                    select e.ctid
                      from {{.schema}}._gw_gate_ends as e
                     where e.limit_id = h.id and e.at <= _gw_count_ends.at
                     order by e.at
                     limit 500) as d))
    returning e.gate_id, e.jobs, e.returned, e.closed_until
  )
  select array_agg(row(e.gate_id, - e.jobs, - e.returned, e.closed_until, null)::{{.schema}}._gw_gate_change)
    into changes
    from (select o.gate_id, sum(o.jobs) as jobs, sum(o.returned) as returned, max(o.closed_until) as closed_until
            from gone as o
           group by o.gate_id) as e;
  if changes is not null then
    gate_ids := {{.schema}}._gw_count_at_gates(changes);
    perform {{.schema}}._gw_set_turns(gate_ids);
  end if;
  return gate_ids;
end;
$$;

-- Gives the lanes of fair limits the turns of their gates: the lane with the fewest running jobs is first, then the one
-- that has started no job for the longest time. The caller holds the limits.
create or replace function {{.schema}}._gw_set_turns(gate_ids integer[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  update {{.schema}}._gw_lanes as l
     set running = g.running, served_at = g.served_at
    from unnest(gate_ids) as u (id)
   cross join lateral (select g.running, g.served_at from {{.schema}}._gw_gates as g where g.id = u.id offset 0) as g
   cross join lateral (select o.ctid from {{.schema}}._gw_lanes as o
                        where o.fair_gate = u.id and (o.running, o.served_at) is distinct from (g.running, g.served_at)
                       offset 0) as o
   where l.ctid = o.ctid;
end;
$$;

-- A lane waits for a gate only while something names the gate: a job that runs, or a row of _gw_gate_ends. Inserts such
-- a row for those of these gates for which lanes wait, and which have room now or at a known time. Returns those that
-- have room now. The caller holds the limits.
create or replace function {{.schema}}._gw_name_gates(gate_ids integer[], at timestamptz)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  have_room integer[];
begin
  gate_ids := {{.schema}}._gw_waited_for(gate_ids);
  if gate_ids <> '{}' then
    with rooms as materialized (
      select r.gate_id, r.room, case when r.room = 0 then r.opens_at else '-infinity' end as names_at
        from {{.schema}}._gw_gate_rooms(gate_ids, at) as r
    ), named as (
      insert into {{.schema}}._gw_gate_ends (limit_id, gate_id, at)
      select (select g.limit_id from {{.schema}}._gw_gates as g where g.id = r.gate_id), r.gate_id, r.names_at
        from rooms as r
       where r.names_at < 'infinity'
         and (select true from {{.schema}}._gw_gate_ends as e where e.gate_id = r.gate_id and e.at <= r.names_at limit 1) is not true
    )
    select array_agg(r.gate_id) into have_room from rooms as r where r.room is distinct from 0;
  end if;
  return have_room;
end;
$$;
