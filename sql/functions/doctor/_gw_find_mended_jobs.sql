-- What the sweeps of limits had to mend: jobs in lanes that are gone, and gates that counted jobs which no longer run.
-- Changes of _private_jobs by hand and Node's reset of locks leave such rows now and then; if it happens often,
-- somebody else writes there.
create or replace function {{.schema}}._gw_find_mended_jobs(
  least_often bigint default 3, within interval default '1 day')
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'info',
         'mended limits',
         'table _private_jobs',
         format('In the last %s, %s sweeps have mended limits: %s rows, the last ones %s ago. Until then, jobs waited that might have run.',
                within, count(*), sum(m.mended), {{.schema}}._gw_age(max(m.at))),
         'Find the program or person who deletes or changes jobs without the functions of the schema, or who resets their locks.'
    from {{.schema}}._gw_mends as m
   where m.at > now() - within
  having count(*) >= least_often
$$;
