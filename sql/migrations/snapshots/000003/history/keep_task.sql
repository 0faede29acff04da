-- The history of tasks, by choice: what is kept of the jobs of a task, for how long.

-- From now on, records the attempts and the ends of the jobs of a task, and keeps these records for at least keep_for;
-- see job_history. payloads: the payload of a job is kept when it ends. results: the results that workers report are
-- kept. A second call changes how later records are kept; existing ones stay as long as it was decided when they were
-- made. The task need not exist yet. The first call in a database creates a trigger on the jobs, which waits for open
-- transactions that have changed jobs, for at most a second.
-- Raises GWBNI and GWBID (task), GWKFR (keep_for), GWKLT (jobs are locked for longer: try again).
create or replace function {{.schema}}.keep_task(
  task     text,
  keep_for interval,
  payloads boolean default false,
  results  boolean default false
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_refuse_job(task, null, null, null, null, null);
  if (keep_for > interval '0' and keep_for <= interval '100 years') is not true then
    raise exception 'keep_for must be positive and at most 100 years, not %.', coalesce(keep_for::text, 'null')
      using errcode = 'GWKFR', hint = 'To keep nothing any more, call stop_keeping_task().';
  end if;
  if not {{.schema}}._gw_watch_ends() then
    raise exception 'Open transactions have changed jobs, so that the trigger for the history cannot be created now.'
      using errcode = 'GWKLT', hint = 'Try again when they have ended.';
  end if;
  insert into {{.schema}}._gw_kept_tasks as k (task, keep_for, payloads, results)
  values (task, keep_for, coalesce(payloads, false), coalesce(results, false))
      on conflict on constraint _gw_kept_tasks_pkey do update
     set keep_for = excluded.keep_for, payloads = excluded.payloads, results = excluded.results;
  perform {{.schema}}._gw_record_act('keep task', 0, format('%s for %s', task, keep_for));
end;
$$;

comment on function {{.schema}}.keep_task(text, interval, boolean, boolean) is
  'Records the attempts and ends of the jobs of a task from now on: for at least keep_for; see job_history(). payloads: the payloads are kept when jobs end. results: the results that workers report are kept.';

-- Ends keep_task: no further records are made. Existing ones are dropped when their time is over. Returns whether the
-- task was kept.
create or replace function {{.schema}}.stop_keeping_task(task text)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  delete from {{.schema}}._gw_kept_tasks as k where k.task = stop_keeping_task.task;
  if not found then
    return false;
  end if;
  perform {{.schema}}._gw_record_act('stop keeping task', 0, task);
  return true;
end;
$$;

comment on function {{.schema}}.stop_keeping_task(text) is
  'Ends keep_task(): no further records are made. Existing ones are dropped when their time is over. Returns whether the task was kept.';

-- Returns the tasks whose jobs are recorded.
create or replace function {{.schema}}.list_kept_tasks()
  returns table (task text, keep_for interval, payloads boolean, results boolean, kept_since timestamptz)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select k.task, k.keep_for, k.payloads, k.results, k.kept_since from {{.schema}}._gw_kept_tasks as k order by k.task
$$;

comment on function {{.schema}}.list_kept_tasks() is
  'Returns the tasks whose jobs are recorded, and for how long their records are kept; see keep_task().';
