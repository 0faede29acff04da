-- Runs one tick of a worker: adds the jobs of all due recurring jobs, those in its items and those of all schedules.
-- Each recurring job runs once for each minute that it matches, however many workers tick, Node workers included.
-- since: the last minute that this worker has handled (handled of its last successful call). All runs after it are due.
-- If since is null, the worker has just started: known entries are backfilled as far as their fill allows, oldest
-- first, and unknown entries are inserted.
-- One call adds about a thousand jobs at most, so that it ends in time whatever was missed. If more are due, delay is
-- 0: the next call continues where this one has stopped, and runs that have just become due come before those of a
-- backlog.
-- worker_id: a registered worker; the items become its crontab.
-- A schedule does not replace a job of another task by its key, because a role that may create schedules may not change
-- jobs. No job is added for that minute then, and problems contains an entry.
-- Locks: new patterns, sorted; new identifiers, in the order of the items; the due entries; then what add_job locks.
-- Raises GWRIT, GWRPT, GWRTZ, GWRBT, class 22 and what add_job raises; no job is added then.
create or replace function {{.schema}}.run_cron(
  items     json,
  since     timestamptz default null,
  now       timestamptz default now(),
  worker_id text        default null
)
  returns table (handled timestamptz, delay interval, scheduled json, problems json)
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  minute  constant timestamptz := date_trunc('minute', now at time zone 'UTC') at time zone 'UTC';
  own     {{.schema}}._gw_schedules[];
  entries {{.schema}}._gw_schedules[];
  numbers bigint[];      -- the due entries,
  runs    timestamptz[]; -- and the minute of each
  due     text[];
  missing text[];
  locked  text[] := array[]::text[];
  crontab text[];
  added   {{.schema}}._gw_cron_run[];
  left_at timestamptz; -- the last run of an entry of which more are due
begin
  if {{.schema}}._gw_in_calendar(now) is not true or not {{.schema}}._gw_in_calendar(since) then
    raise exception 'since and now must be in the years 1 to 199999, not % and %.', since, now using errcode = 'GWRBT';
  end if;
  -- When a worker starts, the second call handles a minute that has just begun. If the clock was set back, handled does
  -- not change.
  handled := case when since is not null then greatest(date_trunc('minute', since at time zone 'UTC') at time zone 'UTC', minute)
                  when now = minute then minute - interval '1 minute'
                  else minute end;
  delay := greatest(interval '0', least(interval '1 minute', handled + interval '1 minute' - now));

  own := {{.schema}}._gw_cron_items(items, is_strict => since is null);
  perform {{.schema}}._gw_check_crons(own, null);
  crontab := array(select o.identifier from unnest(own) as o);
  problems := {{.schema}}._gw_cron_problems(own, now);

  -- Each round determines which rows to lock. The round that finds all of them locked already is the one that counts.
  loop
    -- NOT IN instead of an anti-join keeps the order of the items.
    entries := array(select o from unnest(own) as o
                      where o.identifier not in (select s.identifier from {{.schema}}._gw_schedules as s))
               || array(select s
                          from {{.schema}}._gw_schedules as s
                         where not s.paused and {{.schema}}._gw_zone_exists(s.time_zone)
                         order by s.identifier);
    select c.numbers, c.runs, c.left_at into numbers, runs, left_at from {{.schema}}._gw_chosen_crons(entries, since, handled, now) as c;
    due := array(select e.identifier from unnest(entries) with ordinality as e where e.ordinality = any (numbers));
    missing := array(select e.identifier
                       from unnest(entries) with ordinality as e
                      where (since is null or e.ordinality = any (numbers))
                        and not exists (select from {{.schema}}._private_known_crontabs as k where k.identifier = e.identifier)
                        -- a schedule that was just removed gets no row again
                        and (e.active_since = '-infinity'
                             or exists (select from {{.schema}}._gw_schedules as s where s.identifier = e.identifier))
                      order by e.ordinality);
    exit when due <@ locked and cardinality(missing) = 0;
    perform {{.schema}}._gw_lock_crons(due, missing, now);
    locked := locked || due;
    if left_at is null then
      own := array(select o from unnest(own) as o where o.identifier = any (locked));
    end if;
  end loop;

  for i in 1..coalesce(cardinality(numbers), 0) loop
    added := added || {{.schema}}._gw_add_cron_job(entries[numbers[i]], runs[i], is_backfilled => (runs[i] > since) is not true);
  end loop;
  if left_at is not null then
    handled := greatest(date_trunc('minute', since at time zone 'UTC') at time zone 'UTC', case when since is null then handled else least(handled, left_at) end);
    delay := interval '0';
  end if;
  perform {{.schema}}._gw_record_cron_jobs(added);
  scheduled := coalesce((
    select json_agg(json_build_object('identifier', r.identifier, 'task', r.task, 'job_id', r.job_id, 'ts', r.run,
                                      'backfilled', (r.run > since) is not true)
                    order by r.position)
      from unnest(added) with ordinality as r (identifier, task, run, job_id, position)
     where r.job_id is not null), '[]');
  if exists (select from unnest(added) as r where r.job_id is null) then
    problems := (
      select json_agg(p.problem)
        from (select o.problem
                from json_array_elements(problems) as o (problem)
               union all
              select json_build_object('identifier', u.identifier,
                                       'problem', 'A job of another task has the job key, so no job was added.')
                from (select distinct r.identifier from unnest(added) as r where r.job_id is null) as u) as p);
  end if;
  -- Last, because heartbeats wait for this row.
  update {{.schema}}._gw_workers as w set crontab = crontab where w.id = worker_id and w.crontab <> crontab;
  return next;
end;
$$;

comment on function {{.schema}}.run_cron(json, timestamptz, timestamptz, text) is
  'Runs one tick of a worker: adds the jobs of all due recurring jobs, those in its items and those of all schedules, and returns one row. items: a JSON array of objects of identifier (default: the task), task, pattern, time_zone (UTC), payload (an object), fill (seconds, 0), queue_name, max_attempts, priority, job_key, job_key_mode, flags. since: the last minute that the worker has handled, from its last call; null if it has just started: new items are inserted and known ones are backfilled. now: the time, for tests. worker_id: the registered worker whose crontab the items are. handled: the value of since for the next call. delay: when to call again; 0 if more jobs are due than one call adds. scheduled: an array of objects of identifier, task, job_id, ts, backfilled. problems: an array of objects of identifier, problem for the entries that do not run; null if there are none.';
