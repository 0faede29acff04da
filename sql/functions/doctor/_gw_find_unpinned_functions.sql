-- Functions that triggers, policies, constraints and defaults of the queue's tables call, and that may fail, or find
-- other objects, with the search_path of the queue's functions.
create or replace function {{.schema}}._gw_find_unpinned_functions()
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'warning',
         'function without a path',
         u.caller,
         format('It calls %s, which has no search_path of its own and runs under that of the queue''s functions, '
                'pg_catalog, pg_temp: names without a schema in it are not found, and the call of add_job or '
                'complete_job fails.',
                u.function),
         format('Qualify the names in it and give it a path, with: %s;', u.statement)
    from {{.schema}}._gw_unpinned_functions() as u
$$;
