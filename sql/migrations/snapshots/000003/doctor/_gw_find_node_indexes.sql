-- Indexes that gw-migrate tune manages: none that makes keys unique, or Node workers in a queue without those they need.
create or replace function {{.schema}}._gw_find_node_indexes(
  pages bigint default 10000
)
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  if (select count(*) from {{.schema}}._gw_tune_steps(true) as s (step) where s.step like '%unique (key)%')
     + (select count(*) from {{.schema}}._gw_tune_steps(false) as s (step) where s.step ~ '^create unique index') = 2 then
    return query values (
      'critical',
      'missing index',
      'table ' || {{.schema}}._gw_namespace() || '._private_jobs',
      'No index makes the keys of jobs unique, so a job with a key cannot be added (42P10).',
      'Create it with: gw-migrate tune --with-node; or, if no Node worker uses the queue, with --without-node');
  end if;
  if exists (select from {{.schema}}._gw_tune_steps(true)) then
    return query
    select 'warning',
           'node worker',
           n.worker,
           format('It %s, but the queue lacks indexes that Node workers need: each of their claims reads and sorts all waiting '
                  'jobs, and if a later Graphile Worker replaces add_job, it cannot add jobs (42P10).', n.detail),
           'Create them with: gw-migrate tune --with-node; or stop the worker.'
      from {{.schema}}._gw_node_workers(pages) as n
     limit 10;
  end if;
end;
$$;

comment on function {{.schema}}._gw_find_node_indexes(bigint) is
  'Internal, for doctor(): keys that no index makes unique, and Node workers in a queue without the indexes that they need.';
