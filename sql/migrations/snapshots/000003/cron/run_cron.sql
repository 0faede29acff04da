-- One tick of a worker: adds the jobs that are due of recurring jobs, those of its items and those of all schedules. Each
-- runs once for each minute that it matches, however many workers tick, Node's among them.
-- since: the last minute that this worker has handled: what was handled by its last call that succeeded. All after it is
-- made up for. Null: the worker has just started; what is known is backfilled as far as its fill covers, oldest first,
-- the rest becomes known.
-- worker_id: a registered worker, whose crontab the items are from then on.
-- A schedule replaces no job of another task by its key: whoever may set up schedules may not change jobs. Nothing is added
-- for that minute then, and problems says so.
-- Locks: new patterns, sorted; new identifiers, in the order of the items; those that are due; then what add_job locks.
-- Raises GWRIT, GWRPT, GWRTZ, GWRBT, class 22 and what add_job raises; nothing is added then.
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
  numbers bigint[];      -- the entries that are due,
  runs    timestamptz[]; -- for which minute,
  job_ids bigint[];      -- and the jobs that were added
  due     text[];
  missing text[];
  locked  text[] := array[]::text[];
  refused text[]; -- schedules whose key a job of another task has
  entry   record;
  job_id  bigint;
begin
  if {{.schema}}._gw_in_calendar(now) is not true or not {{.schema}}._gw_in_calendar(since) then
    raise exception 'since and now must be in the years 1 to 199999, not % and %.', since, now using errcode = 'GWRBT';
  end if;
  -- A minute that has just begun is left to the second call when a worker starts. A clock that went back changes nothing.
  handled := case when since is not null then greatest(date_trunc('minute', since at time zone 'UTC') at time zone 'UTC', minute)
                  when now = minute then minute - interval '1 minute'
                  else minute end;
  delay := greatest(interval '0', least(interval '1 minute', handled + interval '1 minute' - now));

  own := {{.schema}}._gw_cron_items(items, is_strict => since is null);
  perform {{.schema}}._gw_check_crons(own, null);
  update {{.schema}}._gw_workers as w
     set crontab = array(select o.identifier from unnest(own) as o)
   where w.id = worker_id
     and w.crontab <> array(select o.identifier from unnest(own) as o);
  select json_agg(p) into problems
    from (select o.identifier, 'A schedule in the database has this identifier; it runs instead.' as problem
            from unnest(own) as o
            join {{.schema}}._gw_schedules as s on s.identifier = o.identifier
           union all
          select s.identifier, format('Time zone %L is not known to the server.', s.time_zone)
            from {{.schema}}._gw_schedules as s
           where not s.paused and not {{.schema}}._gw_zone_exists(s.time_zone)) as p;

  -- A look says what to lock; the look that finds all of it locked is the one that counts.
  loop
    -- Not in, not an anti-join: the items keep their order.
    entries := array(select o from unnest(own) as o
                      where o.identifier not in (select s.identifier from {{.schema}}._gw_schedules as s))
               || array(select s
                          from {{.schema}}._gw_schedules as s
                         where not s.paused and {{.schema}}._gw_zone_exists(s.time_zone)
                         order by s.identifier);
    select array_agg(d.number order by d.run, d.number), array_agg(d.run order by d.run, d.number)
      into numbers, runs
      from {{.schema}}._gw_due_crons(entries, since, handled, now) as d;
    due := array(select e.identifier from unnest(entries) with ordinality as e where e.ordinality = any (numbers));
    missing := array(select e.identifier
                       from unnest(entries) with ordinality as e
                      where (since is null or e.ordinality = any (numbers))
                        and not exists (select from {{.schema}}._private_known_crontabs as k where k.identifier = e.identifier)
                      order by e.ordinality);
    exit when due <@ locked and cardinality(missing) = 0;
    perform {{.schema}}._gw_lock_crons(due, missing, now);
    locked := locked || due;
    own := array(select o from unnest(own) as o where o.identifier = any (locked));
  end loop;

  for entry in
    select e.*, r.run
      from unnest(numbers, runs) with ordinality as r (number, run, position)
      join unnest(entries) with ordinality as e on e.ordinality = r.number
     order by r.position
  loop
    job_id := null;
    if entry.job_key is null or entry.identifier not in (select s.identifier from {{.schema}}._gw_schedules as s) then
      job_id := ({{.schema}}.add_job(
        entry.task, {{.schema}}._gw_cron_payload(entry.payload, entry.run, since is null), entry.queue_name, entry.run,
        entry.max_attempts, entry.job_key, entry.priority, entry.flags, entry.job_key_mode)).id;
    else
      begin
        job_id := {{.schema}}._gw_enqueue_task(
          entry.task, {{.schema}}._gw_cron_payload(entry.payload, entry.run, since is null), entry.queue_name, entry.run,
          entry.max_attempts, entry.job_key, entry.priority, entry.flags, entry.job_key_mode);
      exception when sqlstate 'GWBKT' then
        refused := refused || entry.identifier;
      end;
    end if;
    job_ids := job_ids || job_id;
  end loop;

  if cardinality(job_ids) > 0 then
    update {{.schema}}._private_known_crontabs as k
       set last_execution = m.run
      from (select e.identifier, max(r.run) as run
              from unnest(numbers, runs) as r (number, run)
              join unnest(entries) with ordinality as e on e.ordinality = r.number
             group by e.identifier) as m
     where k.identifier = m.identifier;
    update {{.schema}}._gw_schedules as s
       set last_run = m.run, last_job_id = m.job_id
      from (select distinct on (e.identifier) e.identifier, r.run, r.job_id
              from unnest(numbers, runs, job_ids) with ordinality as r (number, run, job_id, position)
              join unnest(entries) with ordinality as e on e.ordinality = r.number
             where r.job_id is not null
             order by e.identifier, r.position desc) as m
     where s.identifier = m.identifier;
  end if;
  scheduled := coalesce((
    select json_agg(json_build_object('identifier', e.identifier, 'task', e.task, 'job_id', r.job_id, 'ts', r.run,
                                      'backfilled', since is null)
                    order by r.position)
      from unnest(numbers, runs, job_ids) with ordinality as r (number, run, job_id, position)
      join unnest(entries) with ordinality as e on e.ordinality = r.number
     where r.job_id is not null), '[]');
  if refused is not null then
    problems := (
      select json_agg(p.problem)
        from (select o.problem
                from json_array_elements(problems) as o (problem)
               union all
              select json_build_object('identifier', u.identifier,
                                       'problem', 'A job of another task has the job key, so no job was added.')
                from (select distinct u.identifier from unnest(refused) as u (identifier)) as u) as p);
  end if;
  return next;
end;
$$;

comment on function {{.schema}}.run_cron(json, timestamptz, timestamptz, text) is
  'One tick of a worker: adds the jobs that are due of recurring jobs, those of its items and of all schedules, and returns one row. items: a JSON array of objects of identifier (the task if omitted), task, pattern, time_zone (UTC), payload (an object), fill (seconds, 0), queue_name, max_attempts, priority, job_key, job_key_mode, flags. since: the last minute that the worker has handled, from its last call; null when it has just started, to make new items known and to backfill known ones. now: the time, for tests. worker_id: the registered worker whose crontab the items are. handled: what to give as since next time. delay: when to call again. scheduled: an array of objects of identifier, task, job_id, ts, backfilled. problems: an array of objects of identifier, problem, of what does not run; null if there are none.';
