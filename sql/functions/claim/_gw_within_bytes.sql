-- Returns those of a claim's locked jobs, in the order priority, run_at, id, whose payloads as sent have at most
-- max_bytes together, but at least one. Returns all of them if max_bytes is null.
-- The stored size is known without reading a payload, and compression reduces it by a factor of 255 at most (lz4; pglz:
-- 91). If that bound is not sufficient, the function reads the payloads in order until it reaches the limit, and none
-- after that.
create or replace function {{.schema}}._gw_within_bytes(places tid[], max_bytes bigint)
  returns tid[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  ordered tid[];
  stored  bigint;
  beyond  bigint;
begin
  if max_bytes is null or (cardinality(places) > 1) is not true then
    return places;
  end if;
  select array_agg(j.ctid order by j.priority, j.run_at, j.id), sum(pg_column_size(j.payload)) into ordered, stored
    from {{.schema}}._private_jobs as j
   where j.ctid = any (places);
  if 255 * stored <= max_bytes then
    return ordered;
  end if;
  select s.place into beyond
    from (select o.place, sum(octet_length(j.payload::text)) over (rows unbounded preceding) as bytes
            from unnest(ordered) with ordinality as o (ctid, place)
           cross join lateral (
                  select p.payload from {{.schema}}._private_jobs as p where p.ctid = o.ctid
                  offset 0 -- a join would not keep the order
                ) as j) as s
   where s.bytes > max_bytes
   limit 1;
  return ordered[1 : greatest(coalesce(beyond - 1, cardinality(ordered)), 1)];
end;
$$;

-- Returns how many bytes a payload has as it is sent, or more if it may be compressed or stored outside of its row. It
-- reads only small payloads in their rows. The function is a single expression, so the claims inline it; an immutable
-- one could not call pg_column_size.
create or replace function {{.schema}}._gw_most_bytes(payload json)
  returns integer language sql stable
as $$
  select case when pg_catalog.pg_column_size(payload) operator(pg_catalog.>) 32
                   and pg_catalog.pg_column_size(payload) operator(pg_catalog.<=) 2000 then pg_catalog.octet_length(payload::pg_catalog.text)
              else 255 operator(pg_catalog.*) least(pg_catalog.pg_column_size(payload), 8388608) end
$$;
