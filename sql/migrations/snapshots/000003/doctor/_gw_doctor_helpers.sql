-- Shared functions of doctor().

create or replace function {{.schema}}._gw_namespace()
  returns regnamespace language sql stable set search_path = pg_catalog, pg_temp
as $$
  select p.pronamespace::regnamespace
    from pg_proc as p
   where p.oid = to_regprocedure('{{ replace "'" "''" .schema }}._gw_namespace()')
$$;

comment on function {{.schema}}._gw_namespace() is
  'Internal: returns the schema of the queue; its text form is quoted where necessary.';

-- Returns the percentage of a table that a finding reads, for tablesample system: all of a table of up to this many
-- pages, a sample of a larger one. So the cost is the same however many live or dead rows there are.
create or replace function {{.schema}}._gw_share_seen(table_name text, pages bigint)
  returns real language sql stable set search_path = pg_catalog, pg_temp
as $$
  select least(100, 100.0 * pages / greatest(1, pg_relation_size(c.oid) / current_setting('block_size')::bigint))::real
    from pg_class as c
   where c.relname = table_name and c.relnamespace = {{.schema}}._gw_namespace()
$$;

comment on function {{.schema}}._gw_share_seen(text, bigint) is 'Internal: returns the percentage of a table that a finding reads, for tablesample system: all of a table of up to this many pages, a sample of a larger one.';

create or replace function {{.schema}}._gw_estimate(seen bigint, share_seen real)
  returns text language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select case when share_seen >= 100 then seen::text
              else 'about ' || round((seen * 100 / share_seen)::numeric)::text end
$$;

comment on function {{.schema}}._gw_estimate(bigint, real) is
  'Internal: returns the number of rows of a table as text, estimated from the number seen in this percentage of it.';

create or replace function {{.schema}}._gw_age(since timestamptz)
  returns text language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when isfinite(since) then date_trunc('second', now() - since)::text else 'ever' end
$$;

comment on function {{.schema}}._gw_age(timestamptz) is
  'Internal: returns the age of a time as text, in whole seconds.';

-- Returns a gw-run command for a remedy, quoted for a shell. It includes --schema if the schema is not gw-run's
-- default. chr(39) is a single quote, chr(92) a backslash.
create or replace function {{.schema}}._gw_command(words text[])
  returns text language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'gw-run ' || string_agg(
           case when w.word ~ '^[a-zA-Z0-9_./:@%+=,-]+$' then w.word
                else chr(39) || replace(w.word, chr(39), chr(39) || chr(92) || chr(39) || chr(39)) || chr(39) end,
           ' ' order by w.place)
    from unnest(words || (select case when n.nspname <> 'graphile_worker' then array['--schema', n.nspname::text] end
                            from pg_namespace as n
                           where n.oid = {{.schema}}._gw_namespace()))
         with ordinality as w (word, place)
$$;

comment on function {{.schema}}._gw_command(text[]) is 'Internal: returns a gw-run command for a remedy, quoted for a shell.';
