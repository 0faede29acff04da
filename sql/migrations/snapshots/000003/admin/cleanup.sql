-- Removes what piles up, and returns for each task how many rows went. tasks, in whatever order they are given:
--   DELETE_PERMAFAILED_JOBS  jobs that failed for good
--   GC_TASK_IDENTIFIERS      task names that no job uses, but for keep_task_identifiers
--   GC_JOB_QUEUES            queue names that no job uses
-- Whatever is asked for, our side tables lose what is not needed any more, as in stale_sweep.
-- Names that a transaction in flight may be using are left for the next time; producers never wait longer than this
-- call's transaction lasts, and only those that use a collected name.
-- Node workers cache the ids of task names. So while a worker that is not registered holds a lock, task names are only
-- collected with force; registered workers look names up at every claim.
-- Raises GWCTN (unknown task), GWCFW (foreign workers), GWCIS (not READ COMMITTED: an older snapshot cannot tell).
create or replace function {{.schema}}.cleanup(
  tasks                 text[],
  keep_task_identifiers text[]  default '{}',
  force                 boolean default false
)
  returns table (task text, rows bigint)
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  owner text;
begin
  if exists (select from unnest(tasks) as t (name)
              where t.name is null
                 or t.name not in ('DELETE_PERMAFAILED_JOBS', 'GC_TASK_IDENTIFIERS', 'GC_JOB_QUEUES')) then
    raise exception 'Invalid cleanup tasks; allowed values: ''DELETE_PERMAFAILED_JOBS'', ''GC_TASK_IDENTIFIERS'', ''GC_JOB_QUEUES''; you provided: %.',
      (select string_agg(coalesce(quote_literal(t.name), 'null'), ', ') from unnest(tasks) as t (name))
      using errcode = 'GWCTN';
  elsif current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'cleanup() must run at READ COMMITTED, not %.', upper(current_setting('transaction_isolation'))
      using errcode = 'GWCIS';
  end if;
  perform {{.schema}}._gw_drop_spent();

  if 'DELETE_PERMAFAILED_JOBS' = any (tasks) then
    task := 'DELETE_PERMAFAILED_JOBS';
    delete from {{.schema}}._private_jobs as j
     using (select l.id
              from {{.schema}}._private_jobs as l
             where l.locked_at is null and l.attempts >= l.max_attempts
             order by l.id
               for update skip locked) as dead
     where j.id = dead.id;
    get diagnostics rows = row_count;
    return next;
  end if;

  if 'GC_TASK_IDENTIFIERS' = any (tasks) then
    task := 'GC_TASK_IDENTIFIERS';
    select j.locked_by into owner
      from {{.schema}}._private_jobs as j
     where j.locked_at is not null
       and not exists (select from {{.schema}}._gw_workers as w where w.id = j.locked_by)
     limit 1;
    if found and not coalesce(force, false) then
      raise exception 'Worker ''%'' is not registered and holds a job; it may have cached the ids of task names.', owner
        using errcode = 'GWCFW',
              hint = 'Stop the Node workers first, or pass force => true if they know every task name that is kept.';
    end if;
    rows := {{.schema}}._gw_collect_names('task', keep_task_identifiers);
    return next;
  end if;

  if 'GC_JOB_QUEUES' = any (tasks) then
    task := 'GC_JOB_QUEUES';
    rows := {{.schema}}._gw_collect_names('queue', '{}');
    return next;
  end if;
end;
$$;

comment on function {{.schema}}.cleanup(text[], text[], boolean) is
  'Removes what piles up: DELETE_PERMAFAILED_JOBS, GC_TASK_IDENTIFIERS (but for keep_task_identifiers), GC_JOB_QUEUES. Returns how many rows went for each. Whatever is asked for, what workers left in the tables beside the jobs goes, too. force: collect task names although workers that are not registered hold jobs.';
