-- Of jobs that a claim has locked, the first ones by priority, run_at, id whose payloads, as they are sent, have max_bytes
-- together at most, and always one. All of them if max_bytes is null.
-- The size that is stored is known without reading a payload, and compression makes it smaller by 255 times at most (lz4;
-- pglz: 91). Where that does not tell enough, the payloads are read in order until the limit is met, and none behind.
create or replace function {{.schema}}._gw_within_bytes(
  places    tid[],
  max_bytes bigint
)
  returns tid[]
  language plpgsql
  set search_path = pg_catalog, pg_temp -- the planner's settings are those of get_job_batch
as $$
declare
  ordered tid[];
  stored  bigint;
  beyond  bigint;
begin
  if max_bytes is null or (cardinality(places) > 1) is not true then
    return places;
  end if;
  select array_agg(j.ctid order by j.priority, j.run_at, j.id), sum(pg_column_size(j.payload))
    into ordered, stored
    from {{.schema}}._private_jobs as j
   where j.ctid = any (places);
  if 255 * stored <= max_bytes then
    return ordered;
  end if;
  select s.place
    into beyond
    from (select o.place, sum(octet_length(j.payload::text)) over (rows unbounded preceding) as bytes
            from unnest(ordered) with ordinality as o (ctid, place)
           cross join lateral (
                  select p.payload from {{.schema}}._private_jobs as p where p.ctid = o.ctid
                  offset 0 -- not a join, which would have an order of its own
                ) as j) as s
   where s.bytes > max_bytes
   limit 1;
  return ordered[1 : greatest(coalesce(beyond - 1, cardinality(ordered)), 1)];
end;
$$;

comment on function {{.schema}}._gw_within_bytes(tid[], bigint) is
  'Internal: of the locked jobs of a claim, the first ones whose payloads have so many bytes together at most, and always one.';
