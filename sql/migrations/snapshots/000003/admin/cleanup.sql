-- Deletes rows that accumulate, and returns the number of deleted rows for each task. tasks, in any order:
--   DELETE_PERMAFAILED_JOBS  permanently failed jobs
--   GC_TASK_IDENTIFIERS      task names that no job uses, except keep_task_identifiers
--   GC_JOB_QUEUES            queue names that no job uses
-- Every call also deletes expired rows of our side tables, as tidy does.
-- Names that an open transaction may be using are left for the next call. Only producers that use a deleted name wait,
-- at most until this transaction ends.
-- Node workers cache the ids of task names. So while a worker that is not registered holds a lock, task names are
-- deleted only with force. Registered workers look up names at every claim.
-- Raises GWCTN (unknown task), GWCFW (unregistered worker), GWCIS (not READ COMMITTED: an older snapshot may not show
-- the jobs that use a name).
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
  known constant text[] := array['DELETE_PERMAFAILED_JOBS', 'GC_TASK_IDENTIFIERS', 'GC_JOB_QUEUES'];
  owner text;
begin
  if not tasks <@ known then
    raise exception 'Invalid cleanup tasks; allowed values: ''DELETE_PERMAFAILED_JOBS'', ''GC_TASK_IDENTIFIERS'', ''GC_JOB_QUEUES''; you provided: %.',
      (select string_agg(coalesce(quote_literal(t.name), 'null'), ', ') from unnest(tasks) as t (name))
      using errcode = 'GWCTN';
  elsif current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'cleanup() must run at READ COMMITTED, not %.', upper(current_setting('transaction_isolation'))
      using errcode = 'GWCIS';
  end if;
  perform {{.schema}}._gw_try('_gw_drop_spent'), {{.schema}}._gw_try('_gw_pack_history');

  foreach task in array known loop
    continue when (task = any (tasks)) is not true;
    if task = 'DELETE_PERMAFAILED_JOBS' then
      delete from {{.schema}}._private_jobs as j
       using (select l.id
                from {{.schema}}._private_jobs as l
               where l.locked_at is null and not l.is_available
               order by l.id
                 for update skip locked) as dead
       where j.id = dead.id;
      get diagnostics rows = row_count;
    elsif task = 'GC_TASK_IDENTIFIERS' then
      select j.locked_by into owner
        from {{.schema}}._private_jobs as j
       where j.locked_at is not null
         and not exists (select from {{.schema}}._gw_workers as w where w.id = j.locked_by)
       limit 1;
      if found and not coalesce(force, false) then
        raise exception 'Worker ''%'' is not registered and holds a job; it may have cached the ids of task names.',
            owner
          using errcode = 'GWCFW',
                hint = 'Stop the Node workers first, or pass force => true if every task name that they have cached is kept.';
      end if;
      rows := {{.schema}}._gw_collect_names('task', keep_task_identifiers);
    else
      rows := {{.schema}}._gw_collect_names('queue', '{}');
    end if;
    perform {{.schema}}._gw_record_act('cleanup', case when task = 'DELETE_PERMAFAILED_JOBS' then rows else 0 end,
                                       task || ' ' || rows)
      where rows > 0;
    return next;
  end loop;
end;
$$;

comment on function {{.schema}}.cleanup(text[], text[], boolean) is
  'Deletes rows that accumulate: DELETE_PERMAFAILED_JOBS, GC_TASK_IDENTIFIERS (except keep_task_identifiers), GC_JOB_QUEUES. Returns the number of deleted rows for each. Every call also deletes expired rows of the side tables. force: delete task names although workers that are not registered hold jobs.';
