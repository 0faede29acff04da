-- What was changed or lost by hand, or left by a clock that was ahead, and repair() mends.
create or replace function {{.schema}}._gw_find_damage()
  returns setof {{.schema}}._gw_finding language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case when d.what in ('migrations', '_gw_turns') then 'warning' else 'critical' end, 'damaged table',
         'table ' || d.what,
         format('Number: %s; %s.', d.rows, d.lost),
         format(e'Restore what can be restored, by gw-migrate repair, or with:\nselect %s.repair();',
                {{.schema}}._gw_namespace())
    from {{.schema}}._gw_damage() as d
$$;

comment on function {{.schema}}._gw_find_damage() is 'Internal: what was changed or lost by hand, or left by a clock that was ahead, and repair() mends.';

-- Times in the future, of a clock that was ahead: locks and signs of life of workers, and rates. Sweeps correct those
-- of gw's workers. A lock of a worker that is not registered may belong to a running job.
create or replace function {{.schema}}._gw_find_future_times(
  slack interval default '1 minute', pages bigint default 10000)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  latest    constant timestamptz := clock_timestamp() + slack;
  jobs_seen constant real        := {{.schema}}._gw_share_seen('_private_jobs', pages);
begin
  return query
  select 'warning', 'times in the future', 'worker ' || coalesce(f.owner, 'unknown'),
         format('The clock of the server was ahead: locks of the worker are from %s. Jobs and queues that a dead worker holds are not freed before that.',
                max(f.locked_at)),
         format(e'If the worker is dead, free its jobs and queues, with:\nselect %s.force_unlock_workers(array[%L]);',
                {{.schema}}._gw_namespace(), f.owner)
    from (select j.locked_by as owner, j.locked_at from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
           where j.locked_at > latest
          union all
          select q.locked_by, q.locked_at from {{.schema}}._private_job_queues as q
           where q.locked_at > latest and q.locked_by is distinct from 'pause') as f
   group by f.owner
   order by f.owner
   limit 10;
  return query
  select 'warning', 'times in the future', 'table ' || f.name,
         format('The clock of the server was ahead: the table has times up to %s. They count as now once a worker has swept.',
                f.until),
         format(e'If no worker is running, start one, or sweep with:\nselect %s.reset_stale_locks();',
                {{.schema}}._gw_namespace())
    from (select '_gw_workers' as name, max(w.last_seen_at) as until from {{.schema}}._gw_workers as w
          union all
          select '_gw_turns', max(t.last_at) from {{.schema}}._gw_turns as t where t.name <> 'recovery') as f
   where f.until > latest;
end;
$$;

comment on function {{.schema}}._gw_find_future_times(interval, bigint) is 'Internal: times in the future, of a clock that was ahead: locks and signs of life of workers, and rates.';
