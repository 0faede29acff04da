-- Transactions that have held a limit for long: prepared ones, and those in which somebody has called a function that
-- claims jobs or changes limits. The jobs of the limit do not start before they end.
create or replace function {{.schema}}._gw_find_limit_holders(held_for interval default '1 minute')
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'held limit',
         'limit ' || i.name,
         format('It is held by the %s, whose transaction has been open %s. Until that ends, no other job of the limit starts.',
                h.who, case when h.since is null then 'since an unknown time' else 'for ' || {{.schema}}._gw_age(h.since) end),
         replace(h.remedy, ' with: ', ' with:' || chr(10))
    from {{.schema}}._gw_limit_holders() as h
    join {{.schema}}._gw_limits as i on i.id = h.limit_id
   where h.since < now() - held_for
   order by h.since, i.name
   limit 10
$$;
