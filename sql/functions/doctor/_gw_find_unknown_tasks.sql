-- Due jobs of tasks that no registered worker has. Nothing is reported while no worker is registered, because the fleet
-- may then consist of Node workers, which do not register (_gw_find_no_worker() reports a fleet without any worker),
-- nor for tasks with a running job.
create or replace function {{.schema}}._gw_find_unknown_tasks(pages bigint default 10000)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  jobs_seen real := {{.schema}}._gw_share_seen('_private_jobs', pages);
begin
  if not exists (select from {{.schema}}._gw_workers as w where w.last_seen_at >= now() - interval '5 minutes')
     or exists (select from {{.schema}}._gw_workers as w
                 where w.tasks = '{}' and w.last_seen_at >= now() - interval '5 minutes') then
    return;
  end if;
  return query
  with waiting as (
    select j.task_id, count(*) filter (where j.is_available and j.run_at <= now()) as due, min(j.run_at) as since
      from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
     group by j.task_id
    having bool_and(j.locked_at is null)
  )
  select 'warning',
         'task without worker',
         'task ' || coalesce(t.identifier, 'with a deleted name, id ' || w.task_id),
         format('Due jobs: %s, the oldest for %s, but no registered worker that was seen in the last five minutes has '
                'this task. They wait until such a worker starts. (Workers that do not register, such as Node''s, are '
                'not counted.)',
                {{.schema}}._gw_estimate(w.due, jobs_seen), {{.schema}}._gw_age(w.since)),
         'Start a worker with this task, or delete its jobs'
         || case when t.identifier <> '' -- no command selects jobs of a deleted or an empty name
                 then ', by ' || {{.schema}}._gw_command(array['complete', '--task', t.identifier]) || ', or'
                 else '' end
         || format(e' with:\nselect count(*) from %s.complete_jobs(array('
                   'select j.id from %1$s._private_jobs as j where j.task_id = %s));',
                   {{.schema}}._gw_namespace(), w.task_id)
    from waiting as w
    left join {{.schema}}._private_tasks as t on t.id = w.task_id
   where w.due > 0
     and not exists (select from {{.schema}}._gw_workers as l
                      where t.identifier = any (l.tasks) and l.last_seen_at >= now() - interval '5 minutes')
   order by w.since
   limit 10;
end;
$$;
