-- Indexes of the jobs that were dropped: no index makes keys unique, or Node workers are in a queue without those they
-- need. These are jobs_main_index, which their claims read, and a unique index of all keys, for Graphile Worker's own
-- add_job. The latter is found by what it is, because an adopted schema may have another name. Our functions also
-- accept a unique index of the keys that are not null.
create or replace function {{.schema}}._gw_find_node_indexes(pages bigint default 10000)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  jobs     constant regclass := '{{ replace "'" "''" .schema }}._private_jobs';
  all_keys boolean;
  our_keys boolean;
  has_main boolean;
begin
  select coalesce(bool_or(u.keys and i.indpred is null), false),
         coalesce(bool_or(u.keys and pg_get_expr(i.indpred, jobs) = '(key IS NOT NULL)'), false),
         coalesce(bool_or(x.relname = 'jobs_main_index'), false)
    into all_keys, our_keys, has_main
    from pg_index as i
    join pg_class as x on x.oid = i.indexrelid
    left join pg_attribute as a on a.attrelid = jobs and a.attnum = i.indkey[0]
   cross join lateral (select a.attname = 'key' and i.indisunique and i.indnatts = 1) as u (keys)
   where i.indrelid = jobs and i.indisvalid;

  if not (all_keys or our_keys) then
    return query values (
      'critical',
      'missing index',
      'table ' || jobs,
      'No index makes the keys of jobs unique, so a job with a key cannot be added (42P10).',
      format(e'Create it with:\nalter table %s add constraint jobs_key_key1 unique (key);', jobs));
  end if;
  if not (all_keys and has_main) then
    return query
    select 'warning',
           'node worker',
           n.worker,
           format('It %s, but the queue lacks indexes that Node workers need: each of their claims reads and sorts all '
                  'waiting jobs, and if a later Graphile Worker replaces add_job, it cannot add jobs (42P10).',
                  n.detail),
           'Create them as performance.md in the documentation shows, or stop the worker.'
      from {{.schema}}._gw_node_workers(pages) as n
     limit 10;
  end if;
end;
$$;

comment on function {{.schema}}._gw_find_node_indexes(bigint) is 'Internal: indexes of the jobs that were dropped: no index makes keys unique, or Node workers are in a queue without those they need.';
