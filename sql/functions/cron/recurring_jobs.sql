-- Returns the rows of _private_known_crontabs. The view below reads them through this function, because a view on the
-- table would prevent Graphile Worker's migrations from changing it. The caller needs the right to read the table.
create or replace function {{.schema}}._gw_known_crons()
  returns table (identifier text, known_since timestamptz, last_execution timestamptz) language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select k.identifier, k.known_since, k.last_execution from {{.schema}}._private_known_crontabs as k
$$;

-- All recurring jobs that were ever registered, read-only: schedules of the database and items of crontabs. For an item
-- only its identifier is known; it may no longer be in the crontab of any worker, or only in that of a Node worker,
-- which does not register its crontab.
create or replace view {{.schema}}.recurring_jobs as
select k.identifier,
       exists (select from {{.schema}}._gw_schedules as s where s.identifier = k.identifier) as is_schedule,
       array(
         select w.id from {{.schema}}._gw_workers as w where k.identifier = any (w.crontab) order by w.id) as workers,
       k.known_since,
       k.last_execution as last_run
  from {{.schema}}._gw_known_crons() as k;

comment on view {{.schema}}.recurring_jobs is 'All recurring jobs that were ever registered, schedules and items of crontabs, read-only.';
comment on column {{.schema}}.recurring_jobs.identifier is 'The name of the recurring job.';
comment on column {{.schema}}.recurring_jobs.is_schedule is 'Whether it is a schedule of the database; see the view cron_schedules.';
comment on column {{.schema}}.recurring_jobs.workers is 'The registered workers that have it in their crontab. Node workers do not register.';
comment on column {{.schema}}.recurring_jobs.known_since is 'When it was registered. Earlier runs are not backfilled.';
comment on column {{.schema}}.recurring_jobs.last_run is 'The last minute for which a job was added.';
