-- Adds the job of a recurring job for a minute. A schedule does not replace a job of another task by its key; then no
-- job is added, and job_id is null.
-- Locks: as add_job. Raises what add_job raises.
create or replace function {{.schema}}._gw_add_cron_job(
  entry {{.schema}}._gw_schedules, run timestamptz, is_backfilled boolean)
  returns {{.schema}}._gw_cron_run language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  payload constant json := {{.schema}}._gw_cron_payload(entry.payload, run, is_backfilled);
  job_id  bigint;
begin
  if entry.job_key is null or entry.identifier not in (select s.identifier from {{.schema}}._gw_schedules as s) then
    job_id := ({{.schema}}.add_job(
      entry.task, payload, entry.queue_name, run, entry.max_attempts, entry.job_key, entry.priority, entry.flags,
      entry.job_key_mode)).id;
  else
    begin
      job_id := {{.schema}}._gw_enqueue_task(
        entry.task, payload, entry.queue_name, run, entry.max_attempts, entry.job_key, entry.priority, entry.flags,
        entry.job_key_mode);
    exception when sqlstate 'GWBKT' then
      null;
    end;
  end if;
  return row(entry.identifier, entry.task, run, job_id)::{{.schema}}._gw_cron_run;
end;
$$;

-- Records the last minutes of recurring jobs, whose rows the caller holds, and the last jobs of schedules.
create or replace function {{.schema}}._gw_record_cron_jobs(added {{.schema}}._gw_cron_run[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update {{.schema}}._private_known_crontabs as k
     set last_execution = m.run
    from (select r.identifier, max(r.run) as run from unnest(added) as r group by r.identifier) as m
   where k.identifier = m.identifier;
  update {{.schema}}._gw_schedules as s
     set last_run = m.run, last_job_id = m.job_id
    from (select distinct on (r.identifier) r.identifier, r.run, r.job_id
            from unnest(added) with ordinality as r (identifier, task, run, job_id, position)
           where r.job_id is not null
           order by r.identifier, r.position desc) as m
   where s.identifier = m.identifier;
end;
$$;

-- Returns the entries that do not run, as a JSON array for run_cron: items whose identifier a schedule has, and
-- schedules whose time zone is unknown, and those that last ran in the future; null: none.
create or replace function {{.schema}}._gw_cron_problems(items {{.schema}}._gw_schedules[], now timestamptz)
  returns json language sql stable set search_path = pg_catalog, pg_temp
as $$
  select json_agg(p)
    from (select o.identifier, 'A schedule in the database has this identifier; it runs instead.' as problem
            from unnest(items) as o
            join {{.schema}}._gw_schedules as s on s.identifier = o.identifier
          union all
          select s.identifier, format('Time zone %L is not known to the server.', s.time_zone)
            from {{.schema}}._gw_schedules as s
           where not s.paused and not {{.schema}}._gw_zone_exists(s.time_zone)
          union all
          select k.identifier,
                 format('It last ran at %s, in the future, so it does not run before that; repair() lets it run from now on.',
                        k.last_execution)
            from {{.schema}}._private_known_crontabs as k
           where k.last_execution > _gw_cron_problems.now + interval '1 minute'
             and (k.identifier in (select o.identifier from unnest(items) as o)
                  or k.identifier in (select s.identifier from {{.schema}}._gw_schedules as s where not s.paused))) as p
$$;
