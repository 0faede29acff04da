-- Tasks of which many jobs have failed permanently, and some of them lately; and permanently failed jobs of all tasks
-- if there are many. It reads at most five jobs for each of these pages, and 50 000: of more failed jobs a part, see
-- error_groups.
create or replace function {{.schema}}._gw_find_failed_jobs(
  pages bigint default 10000, of_task bigint default 100, lately interval default '1 day',
  threshold bigint default 1000)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with groups as materialized (
    select g.*, case when g.is_cut then 'about ' else '' end as about
      from {{.schema}}._gw_groups_of_errors(least(5 * pages, 50000)::integer) as g
  ), failing as (
    select t.identifier, sum(g.jobs) as jobs, min(g.first_failed_at) as since, max(g.failed_at) as failed_at,
           (array_agg(g.about || g.jobs || ': ' || g.error_group order by g.jobs desc, g.newest_id desc))[1] as most,
           min(g.about) as about
      from groups as g
      join {{.schema}}._private_tasks as t on t.id = g.task_id
     group by t.identifier
  )
  (select 'warning',
          'failing task',
          'task ' || f.identifier,
          format('Permanently failed jobs: %s%s, the first %s ago, the last %s ago. The most frequent error has %s',
                 f.about, f.jobs, {{.schema}}._gw_age(f.since), {{.schema}}._gw_age(f.failed_at), f.most),
          format(e'Look at the errors, as error_groups() returns them. Once their cause is gone, retry the jobs, with:\nselect count(*) from %s.retry_jobs(array(select %1$s.matching_job_ids(''failed'', %2$L, max_rows => null)));',
                 {{.schema}}._gw_namespace(), f.identifier)
     from failing as f
    where f.jobs >= of_task and f.failed_at > now() - lately
    order by f.jobs desc, f.identifier
    limit 10)
  union all
  (select 'info',
          'failed jobs',
          'table _private_jobs',
          format('Permanently failed jobs: %s%s. They stay until they are retried or deleted; each search for stale locks reads them all.',
                 min(g.about), sum(g.jobs)),
          format(e'Retry those whose cause is gone, by %s; delete the others only if nobody needs them, by %s. Look at their errors with:\nselect * from %s.error_groups();',
                 {{.schema}}._gw_command(array['retry', '--state', 'failed', '--task', 'TASK']),
                 {{.schema}}._gw_command(array['cleanup', 'DELETE_PERMAFAILED_JOBS']), {{.schema}}._gw_namespace())
     from groups as g
   having sum(g.jobs) >= threshold);
end;
$$;
