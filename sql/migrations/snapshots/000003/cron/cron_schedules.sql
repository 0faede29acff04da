-- Returns the state of a job. A job that has completed or was removed has no row, so its state is unknown.
create or replace function {{.schema}}._gw_job_outcome(job_id bigint)
  returns text language plpgsql stable strict set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (select {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at)
       from {{.schema}}._private_jobs as j
      where j.id = job_id),
    'unknown');
end;
$$;

comment on function {{.schema}}._gw_job_outcome(bigint) is 'Internal: returns the state of a job.';

-- The recurring jobs of the database, read-only and without their payloads. The view depends on no table of Graphile
-- Worker, because its migrations could not change a table that a view depends on.
create or replace view {{.schema}}.cron_schedules as
select s.identifier,
       s.task as task_identifier,
       s.pattern,
       s.time_zone,
       s.paused,
       case when not s.paused and {{.schema}}._gw_zone_exists(s.time_zone)
            then {{.schema}}._gw_cron_next(s.pattern, now(), s.time_zone) end as next_run,
       s.last_run,
       s.last_job_id,
       {{.schema}}._gw_job_outcome(s.last_job_id) as last_outcome,
       s.fill,
       s.queue_name,
       s.max_attempts,
       s.priority,
       s.job_key,
       s.job_key_mode,
       s.flags,
       case when not s.paused and {{.schema}}._gw_zone_exists(s.time_zone)
            then (select m.run from (select {{.schema}}._gw_cron_next(s.pattern, greatest(s.active_since, s.last_run), s.time_zone) as run) as m
                   where m.run < now() - interval '1 minute') end as missed_run
  from {{.schema}}._gw_schedules as s;

comment on view {{.schema}}.cron_schedules is 'The recurring jobs that cron_schedule() has created, read-only and without their payloads.';
comment on column {{.schema}}.cron_schedules.identifier is 'The name of the recurring job.';
comment on column {{.schema}}.cron_schedules.task_identifier is 'The task that runs its jobs.';
comment on column {{.schema}}.cron_schedules.pattern is 'The cron pattern, in five fields.';
comment on column {{.schema}}.cron_schedules.time_zone is 'The time zone of the pattern.';
comment on column {{.schema}}.cron_schedules.paused is 'Whether it is paused until cron_resume().';
comment on column {{.schema}}.cron_schedules.next_run is 'The next run; null if there is none or if it is paused.';
comment on column {{.schema}}.cron_schedules.last_run is 'The last minute for which it added a job.';
comment on column {{.schema}}.cron_schedules.last_job_id is 'The id of that job.';
comment on column {{.schema}}.cron_schedules.last_outcome is
  'The state of that job: ready, scheduled (also while it waits for a retry), running, failed, or unknown if it has completed or was removed.';
comment on column {{.schema}}.cron_schedules.fill is 'How far back a worker backfills missed runs when it starts.';
comment on column {{.schema}}.cron_schedules.queue_name is 'The named queue of its jobs, if they are in one.';
comment on column {{.schema}}.cron_schedules.max_attempts is 'The max_attempts of its jobs; null: the default.';
comment on column {{.schema}}.cron_schedules.priority is 'The priority of its jobs; null: the default.';
comment on column {{.schema}}.cron_schedules.job_key is 'The job_key of its jobs, if they have one.';
comment on column {{.schema}}.cron_schedules.job_key_mode is 'What happens to a job that is waiting under that key; null: the default.';
comment on column {{.schema}}.cron_schedules.flags is 'The flags of its jobs.';
comment on column {{.schema}}.cron_schedules.missed_run is
  'The first run after the last one that is more than a minute ago: no worker has added its job. Null if there is none.';
