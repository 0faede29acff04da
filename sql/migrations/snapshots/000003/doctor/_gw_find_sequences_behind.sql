-- Sequences that will return values that are in use: logical replication copies rows and not sequences, so after a
-- cut-over calls that need a new id fail with 23505. Sequences that only store a position, and the ids of lanes, of
-- which those in use are skipped, are none of these. Rows that are further above than a quarter of all values are those
-- from before the sequence was restarted because its values ended.
-- Performance: only rows above the sequence are looked for, which an index finds; usually there are none.
create or replace function {{.schema}}._gw_find_sequences_behind()
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  here    name := (select n.nspname from pg_namespace as n where n.oid = {{.schema}}._gw_namespace());
  s       record;
  highest bigint;
begin
  for s in
    select q.oid, q.relname as sequence, c.relname as of_table, a.attname as of_column,
           case a.atttypid when 'integer'::regtype then 536870912 else 2305843009213693952 end as near
      from pg_class as q
      join pg_depend as d
        on d.classid = 'pg_class'::regclass and d.objid = q.oid and d.refobjsubid > 0 and d.deptype in ('a', 'i')
      join pg_class as c on c.oid = d.refobjid
      join pg_attribute as a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where q.relkind = 'S' and q.relnamespace = {{.schema}}._gw_namespace()
       and (d.deptype = 'i' or a.atthasdef or q.relname = '_gw_limit_generations')
     order by c.relname
  loop
    execute format('select (select max(t.%1$I) from %2$I.%3$I as t where t.%1$I >= s.last_value + s.is_called::integer and t.%1$I - s.last_value < %5$L) from %2$I.%4$I as s',
                   s.of_column, here, s.of_table, s.sequence, s.near) into highest;
    continue when highest is null;
    return query
    select 'critical',
           'sequence behind',
           'sequence ' || s.sequence::text,
           format('Its next value is not above %s, which a row of %s has. A call that needs a new id fails with '
                  'duplicate key (23505). Logical replication does not copy sequences.', highest, s.of_table),
           format(e'Set it, with:\nselect setval(%L, (select max(%I) from %I.%I));', format('%I.%I', here, s.sequence),
                  s.of_column, here, s.of_table);
  end loop;
end;
$$;

comment on function {{.schema}}._gw_find_sequences_behind() is 'Internal: sequences that will return values that are in use: logical replication copies rows and not sequences, so after a cut-over calls that need a new id fail with 23505.';
