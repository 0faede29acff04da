-- Permanently failed jobs if there are many.
create or replace function {{.schema}}._gw_find_failed_jobs(pages bigint default 10000, threshold bigint default 1000)
  returns table (severity text, finding text, subject text, detail text, remedy text) language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  jobs_seen real := {{.schema}}._gw_share_seen('_private_jobs', pages);
begin
  return query
  with failed as (
    select count(*) as jobs
      from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
     where not j.is_available and j.locked_at is null
  )
  select 'info',
         'failed jobs',
         'table _private_jobs',
         format('Permanently failed jobs: %s. They stay until they are deleted or retried; each search for stale locks reads them all.',
                {{.schema}}._gw_estimate(f.jobs, jobs_seen)),
         format('Read last_error in %s.jobs, then delete them, by %s, or with: '
                'select * from %1$s.cleanup(array[''DELETE_PERMAFAILED_JOBS'']);',
                {{.schema}}._gw_namespace(), {{.schema}}._gw_command(array['cleanup', 'DELETE_PERMAFAILED_JOBS']))
    from failed as f
   where f.jobs * 100 / jobs_seen >= threshold;
end;
$$;

comment on function {{.schema}}._gw_find_failed_jobs(bigint, bigint) is
  'Internal, for doctor(): whether this many jobs have failed permanently, by a sample of this many pages.';
