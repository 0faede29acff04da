-- The recurring jobs that workers know. A view that depended on the table itself would keep Graphile Worker's migrations
-- from changing it. Who reads the view needs the right to read the table.
create or replace function {{.schema}}._gw_known_crons()
  returns table (identifier text, known_since timestamptz, last_execution timestamptz)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query select k.identifier, k.known_since, k.last_execution from {{.schema}}._private_known_crontabs as k;
end;
$$;

comment on function {{.schema}}._gw_known_crons() is
  'Internal: the recurring jobs that workers know.';

-- All recurring jobs that were ever made known, for reading: schedules of the database, and items of crontabs. Of an item
-- only its identifier is known here; it may be in no worker's crontab any more, or only in those of Node workers, which do
-- not tell.
create or replace view {{.schema}}.recurring_jobs as
select k.identifier,
       exists (select from {{.schema}}._gw_schedules as s where s.identifier = k.identifier) as is_schedule,
       array(select w.id from {{.schema}}._gw_workers as w where k.identifier = any (w.crontab) order by w.id) as workers,
       k.known_since,
       k.last_execution as last_run
  from {{.schema}}._gw_known_crons() as k;

comment on view {{.schema}}.recurring_jobs is 'All recurring jobs that were ever made known, schedules and items of crontabs, for reading.';
comment on column {{.schema}}.recurring_jobs.identifier is 'The recurring job.';
comment on column {{.schema}}.recurring_jobs.is_schedule is 'Whether it is a schedule of the database; the view cron_schedules tells more then.';
comment on column {{.schema}}.recurring_jobs.workers is 'The registered workers that have it in their crontab. Node workers do not register.';
comment on column {{.schema}}.recurring_jobs.known_since is 'When it was made known. Nothing before that is backfilled.';
comment on column {{.schema}}.recurring_jobs.last_run is 'The last minute for which a job was added.';
