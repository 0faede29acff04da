-- What became of a job. One that is done leaves no row, and neither does one that was removed: its outcome is not known.
create or replace function {{.schema}}._gw_job_outcome(
  job_id bigint
)
  returns text
  language plpgsql
  stable
  strict
  set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (select {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at)
       from {{.schema}}._private_jobs as j
      where j.id = job_id),
    'unknown');
end;
$$;

comment on function {{.schema}}._gw_job_outcome(bigint) is
  'Internal: what became of a job: ready, scheduled, running or failed as job_state() says, or unknown when it has no row.';

-- The recurring jobs of the database, for reading; without their payloads. It depends on no table of Graphile Worker's,
-- whose migrations could not change one that a view depends on.
create or replace view {{.schema}}.cron_schedules as
select s.identifier,
       s.task as task_identifier,
       s.pattern,
       s.time_zone,
       s.paused,
       case when not s.paused and {{.schema}}._gw_zone_exists(s.time_zone)
            then {{.schema}}.cron_next(s.pattern, now(), s.time_zone) end as next_run,
       s.last_run,
       s.last_job_id,
       {{.schema}}._gw_job_outcome(s.last_job_id) as last_outcome,
       s.fill,
       s.queue_name,
       s.max_attempts,
       s.priority,
       s.job_key,
       s.job_key_mode,
       s.flags
  from {{.schema}}._gw_schedules as s;

comment on view {{.schema}}.cron_schedules is 'The recurring jobs that cron_schedule() has set up, for reading; without their payloads.';
comment on column {{.schema}}.cron_schedules.identifier is 'The recurring job.';
comment on column {{.schema}}.cron_schedules.task_identifier is 'The task that runs its jobs.';
comment on column {{.schema}}.cron_schedules.pattern is 'When it runs, in five fields.';
comment on column {{.schema}}.cron_schedules.time_zone is 'The zone by whose clock it runs.';
comment on column {{.schema}}.cron_schedules.paused is 'Whether it does not run until cron_resume().';
comment on column {{.schema}}.cron_schedules.next_run is 'When it runs next; null: never, or not while it is paused.';
comment on column {{.schema}}.cron_schedules.last_run is 'The last minute for which it has added a job.';
comment on column {{.schema}}.cron_schedules.last_job_id is 'That job.';
comment on column {{.schema}}.cron_schedules.last_outcome is
  'What became of that job: ready, scheduled (also to be tried again), running, failed, or unknown once it is done or removed.';
comment on column {{.schema}}.cron_schedules.fill is 'For how long back a worker that starts makes up for missed runs.';
comment on column {{.schema}}.cron_schedules.queue_name is 'The named queue of its jobs, if they are in one.';
comment on column {{.schema}}.cron_schedules.max_attempts is 'After how many attempts a failing job of it has failed for good; null: the default.';
comment on column {{.schema}}.cron_schedules.priority is 'The priority of its jobs; null: the default.';
comment on column {{.schema}}.cron_schedules.job_key is 'The job_key of its jobs, if they have one.';
comment on column {{.schema}}.cron_schedules.job_key_mode is 'What becomes of a job that waits under that key; null: the default.';
comment on column {{.schema}}.cron_schedules.flags is 'The flags of its jobs.';
