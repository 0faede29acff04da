-- Returns the key of a job under a limit: by is flag:name or payload:field. Null: the job has no such flag or field, or
-- its value is null. Never raises an error: escapes that stand for no text give no key. A number is its value, so 7,
-- 7.0 and 7e0 are one key. A long key is replaced by its beginning and a hash.
create or replace function {{.schema}}._gw_key_of(by text, payload json, flags jsonb)
  returns text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  name text := substr(by, strpos(by, ':') + 1);
  key  text;
begin
  if by like 'flag:%' then
    select min(substr(f.flag, length(name) + 2)) into key
      from jsonb_object_keys(case when jsonb_typeof(flags) = 'object' then flags end) as f (flag)
     where starts_with(f.flag, name || ':');
  elsif strpos(payload::text, E'\\u') = 0 then
    key := payload ->> name;
  else
    begin
      key := payload ->> name;
    exception when others then
      return null;
    end;
  end if;
  if key ~ '^-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,2})?$' and key ~ '[.eE]|^-0' and length(key) <= 100
     and by not like 'flag:%' and json_typeof(payload -> name) = 'number' then
    key := (key::numeric)::text;
    key := case when strpos(key, '.') > 0 then rtrim(rtrim(key, '0'), '.') else key end;
  end if;
  return case when length(key) > 200 then left(key, 160) || md5(key) else key end;
end;
$$;

-- Returns the gates that a job passes under these limits; gate_id is null if there is no such gate yet. A limit with by has a
-- gate of each key, which may be paused. The function sets no search_path, so
-- that PostgreSQL inlines it into the statements of claims.
create or replace function {{.schema}}._gw_gates_of(limit_ids integer[], payload json, flags jsonb)
  returns table (limit_id integer, key text, is_total boolean, is_fair boolean, by_key boolean, gate_id integer)
  language sql stable rows 2
as $$
  select l.id, w.key, w.is_total, l.fair and not w.is_total, l.by is not null,
         (select g.id
            from {{.schema}}._gw_gates as g
           where g.limit_id operator(pg_catalog.=) l.id and g.is_total operator(pg_catalog.=) w.is_total
             and coalesce(g.key, '') operator(pg_catalog.=) coalesce(w.key, '') and (g.key is null) operator(pg_catalog.=) (w.key is null))
    from {{.schema}}._gw_limits as l
   cross join lateral (select case when l.by is not null then {{.schema}}._gw_key_of(l.by, payload, flags) end as key offset 0) as k
   cross join lateral (
          select k.key, false as is_total
           where l.by is not null or l.max_running is not null or l.rate is not null or l.total_running is null
          union all
          select null, true where l.total_running is not null) as w
   where l.id operator(pg_catalog.=) any (limit_ids) and (l.by is null or k.key is not null)
$$;

-- Returns the gates that a job of a task with these limits passes, the first fair one of them, and its lane; lane_id is
-- null if there is no such lane yet. The function sets no search_path, so that PostgreSQL inlines it into the
-- statements of claims.
create or replace function {{.schema}}._gw_lane_of(task {{.schema}}._gw_limited_task, payload json, flags jsonb)
  returns table (gates integer[], fair_gate integer, lane_id integer, gate integer, priority smallint, run_at timestamptz, job_id bigint)
  language sql stable rows 1
as $$
  select g.gates, g.fair_gate, l.id, l.gate, l.priority, l.run_at, l.job_id
    from (select coalesce(pg_catalog.array_agg(g.gate_id order by g.gate_id), '{}') as gates,
                 (pg_catalog.array_agg(g.gate_id order by g.limit_id) filter (where g.is_fair))[1] as fair_gate
            from {{.schema}}._gw_gates_of((task).limit_ids, payload, flags) as g) as g
    left join lateral (
          select l.*
            from {{.schema}}._gw_lanes as l
           where l.task_id operator(pg_catalog.=) (task).task_id and l.generation operator(pg_catalog.=) (task).generation
             and l.gates operator(pg_catalog.=) g.gates
          offset 0) as l on true
$$;
