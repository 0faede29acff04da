-- What the findings of doctor() share.

create or replace function {{.schema}}._gw_namespace()
  returns regnamespace
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select p.pronamespace::regnamespace
    from pg_proc as p
   where p.oid = to_regprocedure('{{ replace "'" "''" .schema }}._gw_namespace()')
$$;

comment on function {{.schema}}._gw_namespace() is
  'Internal: the schema of the queue; as text it is quoted where it has to be.';

-- How much of a table a finding looks at, in percent, for tablesample system: all of it up to so many pages, of a larger
-- one a sample that costs as much, however many rows or dead rows there are.
create or replace function {{.schema}}._gw_share_seen(
  table_name text,
  pages      bigint
)
  returns real
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select least(100, 100.0 * pages / greatest(1, pg_relation_size(c.oid) / current_setting('block_size')::bigint))::real
    from pg_class as c
   where c.relname = table_name and c.relnamespace = {{.schema}}._gw_namespace()
$$;

comment on function {{.schema}}._gw_share_seen(text, bigint) is
  'Internal: how much of a table doctor() looks at if it may read so many pages, in percent.';

create or replace function {{.schema}}._gw_estimate(
  seen       bigint,
  share_seen real
)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
  select case when share_seen >= 100 then seen::text
              else 'about ' || round((seen * 100 / share_seen)::numeric)::text end
$$;

comment on function {{.schema}}._gw_estimate(bigint, real) is
  'Internal: how many rows a table has, in words, if so many were seen in a share of it.';

create or replace function {{.schema}}._gw_age(
  since timestamptz
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select case when isfinite(since) then date_trunc('second', now() - since)::text else 'ever' end
$$;

comment on function {{.schema}}._gw_age(timestamptz) is
  'Internal: how long ago something was, in words, to the second.';
