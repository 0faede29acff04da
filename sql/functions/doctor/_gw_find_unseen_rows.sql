-- The tables that are too large for doctor() to read in full.
create or replace function {{.schema}}._gw_find_unseen_rows(pages bigint default 10000)
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'info',
         'large table',
         'table ' || t.name,
         format('Only %s %% of it, chosen at random, was searched for locks, failed jobs and tasks without workers; '
                'numbers are estimates, and rare rows may be missed. ', round(s.share::numeric, 2))
           || case when t.name = '_private_jobs' then 'Orphaned queues were not searched for.' else '' end,
         format(e'If no jobs are waiting, shrink it with:\nvacuum full %s.%s; -- it is locked in the meantime',
                {{.schema}}._gw_namespace(), t.name)
    from (values ('_private_jobs'), ('_private_job_queues')) as t (name)
   cross join lateral {{.schema}}._gw_share_seen(t.name, pages) as s (share)
   where s.share < 100
$$;
