-- What doctor() did not look at because the tables are too large.
create or replace function {{.schema}}._gw_find_unseen_rows(
  pages bigint default 10000
)
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select 'info',
         'large table',
         'table ' || t.name,
         format('Locks, failed jobs and tasks without workers were looked for in %s %% of it, chosen at random; numbers are '
                'estimates, and what is rare may be missed. ', round(s.share::numeric, 2))
           || case when t.name = '_private_jobs' then 'Orphaned queues were not looked for at all.' else '' end,
         format('If nothing waits to be done, make it small with: vacuum full %s.%s; -- nobody can use it meanwhile',
                {{.schema}}._gw_namespace(), t.name)
    from (values ('_private_jobs'), ('_private_job_queues')) as t (name)
   cross join lateral {{.schema}}._gw_share_seen(t.name, pages) as s (share)
   where s.share < 100;
end;
$$;

comment on function {{.schema}}._gw_find_unseen_rows(bigint) is
  'Internal, for doctor(): which tables have more pages than are looked at.';
