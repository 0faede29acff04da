-- Creates a recurring job in the database, or changes it, and returns its next run; null if it has none or is paused.
-- All workers with cron enabled run it, independently of their own crontabs.
-- Runs before the job was created, or before it got another pattern or time zone, are not backfilled. A call that
-- changes neither skips no run, so it can be repeated with every deployment. A paused job stays paused. If it last ran
-- in the future, because a clock was ahead, it runs from now on.
-- Locks: a new pattern; the row in _private_known_crontabs, then the row in _gw_schedules.
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
     job_key_mode, case when flags is not null then array(select f from unnest(flags) as f (f)) end, false, now(),
     null, null);
  owner      text;
  was_paused boolean;
  before     text;
  after      text;
begin
  perform {{.schema}}._gw_check_crons(array[entry], 'cron_schedule call');
  select w.id into owner from {{.schema}}._gw_workers as w where identifier = any (w.crontab) limit 1;
  if found then
    raise exception 'Identifier ''%'' is in the crontab of worker ''%''.', identifier, owner
      using errcode = 'GWRID', hint = 'Use another identifier, or remove it from the crontab and restart the worker.';
  end if;

  perform {{.schema}}._gw_lock_crons(array[identifier], array[identifier], now());
  perform {{.schema}}._gw_set_back_crons(array[identifier]);
  select to_json(s)::text into before from {{.schema}}._gw_schedules as s where s.identifier = identifier;
  insert into {{.schema}}._gw_schedules as s
  select (entry).*
      on conflict on constraint _gw_schedules_pkey do update
     set (task, pattern, time_zone, payload, fill, queue_name, max_attempts, priority, job_key, job_key_mode, flags) =
           (excluded.task, excluded.pattern, excluded.time_zone, excluded.payload, excluded.fill, excluded.queue_name,
            excluded.max_attempts, excluded.priority, excluded.job_key, excluded.job_key_mode, excluded.flags),
         active_since = case when (s.pattern, s.time_zone) = (excluded.pattern, excluded.time_zone)
                             then s.active_since else excluded.active_since end
  returning s.paused, to_json(s)::text into was_paused, after;
  perform {{.schema}}._gw_record_act('schedule', 0, identifier) where after is distinct from before;
  return case when not was_paused then {{.schema}}.cron_next(pattern, now(), time_zone) end;
end;
$$;

comment on function {{.schema}}.cron_schedule(text, text, text, json, text, interval, integer, text, integer, text, text, text[]) is
  'Creates a recurring job in the database, or changes it, and returns its next run; null if it has none or is paused. identifier: its name, which must not be in the crontab of a worker. pattern: when it runs, in five fields. task: the task that runs its jobs. payload: an object; the key _cron is added to it. time_zone: the time zone of the pattern. fill: how far back a worker backfills missed runs when it starts. The other arguments are those of add_job.';

-- Removes a recurring job from the database. The jobs that it has added stay. Returns false if there was none.
-- Locks: the row in _private_known_crontabs, then the row in _gw_schedules. So no job of it is added after this
-- transaction commits.
create or replace function {{.schema}}.cron_unschedule(identifier text)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  is_known boolean;
begin
  perform from {{.schema}}._private_known_crontabs as k where k.identifier = identifier for update;
  is_known := found;
  -- If it has just been scheduled, after the search for its lock, this call comes before that one: the lock must be the
  -- first one.
  delete from {{.schema}}._gw_schedules as s
   where s.identifier = identifier
     and (is_known or not exists (select from {{.schema}}._private_known_crontabs as k
                                   where k.identifier = s.identifier));
  if not found then
    return false;
  end if;
  delete from {{.schema}}._private_known_crontabs as k where k.identifier = identifier;
  perform {{.schema}}._gw_record_act('unschedule', 0, identifier);
  return true;
end;
$$;

comment on function {{.schema}}.cron_unschedule(text) is
  'Removes a recurring job that cron_schedule has created; the jobs that it has added stay. Returns false if there was none.';

-- Pauses a recurring job of the database until cron_resume. Returns false if there is none.
-- Locks: as cron_unschedule.
create or replace function {{.schema}}.cron_pause(identifier text)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  perform from {{.schema}}._private_known_crontabs as k where k.identifier = identifier for update;
  update {{.schema}}._gw_schedules as s set paused = true where s.identifier = identifier;
  if not found then
    return false;
  end if;
  perform {{.schema}}._gw_record_act('pause', 0, 'schedule ' || identifier);
  return true;
end;
$$;

comment on function {{.schema}}.cron_pause(text) is
  'Pauses a recurring job that cron_schedule has created until cron_resume. Returns false if there is none.';

-- Resumes a paused recurring job. Missed runs are not backfilled. Returns false if there is none.
-- Locks: as cron_unschedule.
create or replace function {{.schema}}.cron_resume(identifier text)
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
  if not found then
    return false;
  end if;
  perform {{.schema}}._gw_record_act('resume', 0, 'schedule ' || identifier);
  return true;
end;
$$;

comment on function {{.schema}}.cron_resume(text) is
  'Resumes a recurring job that cron_pause has paused; missed runs are not backfilled. Returns false if there is none.';

-- Adds a job of a recurring job now, in addition to its runs: with the same task, payload and options, due at once,
-- whether it is paused or not. ts in the key _cron of the payload is the time of the call. Returns the id of the job,
-- null if there is no such recurring job.
-- Locks: what add_job locks.
-- Raises what add_job raises, and GWBKT if the job_key is in use by a job of another task.
create or replace function {{.schema}}.cron_add_job(identifier text)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  entry  {{.schema}}._gw_schedules;
  job_id bigint;
begin
  select s.* into entry from {{.schema}}._gw_schedules as s where s.identifier = identifier;
  if not found then
    return null;
  end if;
  job_id := {{.schema}}._gw_enqueue_task(
    entry.task, {{.schema}}._gw_cron_payload(entry.payload, now(), false), entry.queue_name, null, entry.max_attempts,
    entry.job_key, entry.priority, entry.flags, entry.job_key_mode);
  perform {{.schema}}._gw_record_act('run', 1, 'schedule ' || identifier, array[job_id]);
  return job_id;
end;
$$;

comment on function {{.schema}}.cron_add_job(text) is
  'Adds a job now of a recurring job that cron_schedule has created: in addition to its runs, even while it is paused, with the same task, payload and options, due at once. Returns the id of the job, null if there is no such recurring job.';
