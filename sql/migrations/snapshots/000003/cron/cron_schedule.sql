-- Sets up a recurring job in the database, or changes it, and returns when it runs next; null if it never does or is
-- paused. Workers that tick run it, whatever their own crontab.
-- What happened before it was set up, or was given another pattern or time zone, is not made up for. A call that changes
-- neither loses nothing, so that it may be repeated with every deployment. A paused one stays paused.
-- Locks: a new pattern; its row in _private_known_crontabs, then that in _gw_schedules.
-- Raises GWRID (in the crontab of a registered worker), GWRIT, GWRPT, GWRTZ, what add_job would raise for its jobs, and
-- 22P05 or 22P02 for a payload with escapes that stand for no text.
create or replace function {{.schema}}.cron_schedule(
  identifier   text,
  pattern      text,
  task         text,
  payload      json     default null,
  time_zone    text     default 'UTC',
  fill         interval default '0',
  max_attempts integer  default null,
  queue_name   text     default null,
  priority     integer  default null,
  job_key      text     default null,
  job_key_mode text     default null,
  flags        text[]   default null
)
  returns timestamptz
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  entry constant {{.schema}}._gw_schedules :=
    (identifier, task, pattern, time_zone, payload, coalesce(fill, '0'), queue_name, max_attempts, priority, job_key,
     job_key_mode, flags, false, now(), null, null);
  owner      text;
  was_paused boolean;
begin
  perform {{.schema}}._gw_check_crons(array[entry], 'cron_schedule call');
  select w.id into owner from {{.schema}}._gw_workers as w where identifier = any (w.crontab) limit 1;
  if found then
    raise exception 'Identifier ''%'' is in the crontab of worker ''%''.', identifier, owner
      using errcode = 'GWRID', hint = 'Take another one, or remove it from the crontab and restart the worker.';
  end if;

  perform {{.schema}}._gw_lock_crons(array[identifier], array[identifier], now());
  insert into {{.schema}}._gw_schedules as s
    (identifier, task, pattern, time_zone, payload, fill, queue_name, max_attempts, priority, job_key, job_key_mode, flags)
  values (identifier, task, pattern, time_zone, payload, entry.fill, queue_name, max_attempts, priority, job_key,
          job_key_mode, flags)
      on conflict on constraint _gw_schedules_pkey do update
     set task         = excluded.task,
         pattern      = excluded.pattern,
         time_zone    = excluded.time_zone,
         payload      = excluded.payload,
         fill         = excluded.fill,
         queue_name   = excluded.queue_name,
         max_attempts = excluded.max_attempts,
         priority     = excluded.priority,
         job_key      = excluded.job_key,
         job_key_mode = excluded.job_key_mode,
         flags        = excluded.flags,
         active_since = case when (s.pattern, s.time_zone) = (excluded.pattern, excluded.time_zone)
                             then s.active_since else excluded.active_since end
  returning s.paused into was_paused;
  return case when not was_paused then {{.schema}}.cron_next(pattern, now(), time_zone) end;
end;
$$;

comment on function {{.schema}}.cron_schedule(text, text, text, json, text, interval, integer, text, integer, text, text, text[]) is
  'Sets up a recurring job in the database, or changes it, and returns when it runs next: null if never, or if it is paused. identifier: its name, which no crontab of a worker may use. pattern: when, in five fields. task: what runs its jobs. payload: an object; _cron is added to it. time_zone: by whose clock. fill: for how long back a worker that starts makes up for missed runs. The rest is as in add_job.';

-- Removes a recurring job from the database. The jobs that it has added stay. False: there was none.
-- Locks: its row in _private_known_crontabs, then that in _gw_schedules. So none of its jobs is added after this commits.
create or replace function {{.schema}}.cron_unschedule(
  identifier text
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  perform from {{.schema}}._private_known_crontabs as k where k.identifier = identifier for update;
  delete from {{.schema}}._gw_schedules as s where s.identifier = identifier;
  if not found then
    return false;
  end if;
  delete from {{.schema}}._private_known_crontabs as k where k.identifier = identifier;
  return true;
end;
$$;

comment on function {{.schema}}.cron_unschedule(text) is
  'Removes a recurring job that cron_schedule has set up; the jobs that it has added stay. False: there was none.';

-- Stops a recurring job of the database until cron_resume. False: there is none.
-- Locks: as cron_unschedule.
create or replace function {{.schema}}.cron_pause(
  identifier text
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  perform from {{.schema}}._private_known_crontabs as k where k.identifier = identifier for update;
  update {{.schema}}._gw_schedules as s set paused = true where s.identifier = identifier;
  return found;
end;
$$;

comment on function {{.schema}}.cron_pause(text) is
  'Stops a recurring job that cron_schedule has set up, until cron_resume. False: there is none.';

-- Lets a paused recurring job run again. What it missed is not made up for. False: there is none.
-- Locks: as cron_unschedule.
create or replace function {{.schema}}.cron_resume(
  identifier text
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  perform from {{.schema}}._private_known_crontabs as k where k.identifier = identifier for update;
  update {{.schema}}._gw_schedules as s
     set paused = false,
         active_since = case when s.paused then now() else s.active_since end
   where s.identifier = identifier;
  return found;
end;
$$;

comment on function {{.schema}}.cron_resume(text) is
  'Lets a recurring job run again that cron_pause has stopped; what it missed is not made up for. False: there is none.';
