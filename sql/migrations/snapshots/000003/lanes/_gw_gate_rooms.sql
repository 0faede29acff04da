-- Returns for how long this many starts use up a rate. Rounded up to microseconds, so that the rate is never exceeded.
-- The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_charge(starts double precision, rate integer, per interval)
  returns interval language sql immutable
as $$
  select pg_catalog.ceil(starts operator(pg_catalog.*) 1000000 operator(pg_catalog.*) extract(epoch from per)::double precision operator(pg_catalog./) rate)
         operator(pg_catalog.*) interval '1 microsecond'
$$;

comment on function {{.schema}}._gw_charge(double precision, integer, interval) is 'Internal: returns for how long this many starts use up a rate.';

-- Returns how many more jobs may start at each of these gates (null: any number) and, if none, why and when that
-- changes (null: at no known time). reason: paused, closed, full or rate. A gate of a limit that was dropped is not
-- returned. Who holds the limits may start so many; for others the result is of the moment. A rate is one timestamp
-- (GCRA): theoretic_at is ahead of the clock by the charge of the starts that the rate has not made up for yet, and
-- burst of them may be owed. The function sets no search_path, so that PostgreSQL inlines it into the statements of
-- claims. A gate that is named twice is returned twice. offset 0: each gate is found by its id, also if the plan was
-- made while the table was empty.
create or replace function {{.schema}}._gw_gate_rooms(gate_ids integer[], at timestamptz)
  returns table (gate_id integer, room integer, opens_at timestamptz, reason text, running integer) language sql stable
  rows 2
as $$
  select g.id,
         case when b.reason is not null then 0
              else least(g.width operator(pg_catalog.-) g.running, g.budget) end,
         case when b.reason operator(pg_catalog.=) 'paused' then g.paused_until
              when b.reason operator(pg_catalog.=) 'closed' then g.closed_until
              when b.reason operator(pg_catalog.=) 'rate' then
                g.theoretic_at operator(pg_catalog.-) {{.schema}}._gw_charge(g.burst operator(pg_catalog.-) 1, g.rate, g.per) end,
         b.reason, g.running
    from (select g.id, g.running, g.closed_until, g.theoretic_at, n.rate, n.per, n.burst,
                 coalesce(g.max_running, case when g.is_total then l.total_running else l.max_running end) as width,
                 case when n.rate is not null then
                   pg_catalog.floor(n.burst operator(pg_catalog.-)
                         (greatest(0, extract(epoch from (g.theoretic_at operator(pg_catalog.-) at)))::double precision
                          operator(pg_catalog.*) n.rate operator(pg_catalog./) extract(epoch from n.per)::double precision))::integer
                 end as budget,
                 -- Several pauses: of the limit and of the key. The later end counts.
                 (select pg_catalog.max(coalesce(p.until, 'infinity'))
                    from {{.schema}}._gw_pauses as p
                   where p.limit_name operator(pg_catalog.=) l.name and (p.key is null or p.key operator(pg_catalog.=) g.key)
                     and coalesce(p.until, 'infinity') operator(pg_catalog.>) at) as paused_until
            from pg_catalog.unnest(gate_ids) as u (id)
           cross join lateral (select g.* from {{.schema}}._gw_gates as g where g.id operator(pg_catalog.=) u.id offset 0) as g
           cross join lateral (select l.* from {{.schema}}._gw_limits as l where l.id operator(pg_catalog.=) g.limit_id offset 0) as l
            left join lateral (
                  select coalesce(g.rate, l.rate) as rate, coalesce(g.per, l.per) as per, coalesce(g.burst, g.rate, l.burst, l.rate) as burst)
                  as n on not g.is_total
          offset 0) as g
   cross join lateral (
          select case when g.paused_until is not null then 'paused'
                      when g.closed_until operator(pg_catalog.>) at then 'closed'
                      when g.running operator(pg_catalog.>=) g.width then 'full'
                      when g.budget operator(pg_catalog.<) 1 then 'rate' end as reason) as b
$$;

comment on function {{.schema}}._gw_gate_rooms(integer[], timestamptz) is 'Internal: returns how many more jobs may start at each of these gates (null: any number) and, if none, why and when that changes (null: at no known time).';
