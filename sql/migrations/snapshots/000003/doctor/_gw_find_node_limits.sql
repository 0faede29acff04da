-- Limits that Node workers do not obey: of tasks whose jobs have queue names. Node workers see these jobs, and know no
-- limits; other jobs of tasks with limits are hidden from them. A Node worker has the task if it holds a job of it, in
-- a sample of so many pages.
create or replace function {{.schema}}._gw_find_node_limits(pages bigint default 10000)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  jobs_seen real := {{.schema}}._gw_share_seen('_private_jobs', pages);
begin
  if not exists (select from {{.schema}}._gw_limits) then
    return;
  end if;
  return query
  with served as (
    select j.task_id, min(j.locked_by) as worker, bool_or(j.job_queue_id > 0) as is_queued
      from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
     where j.locked_by ~ '^(pool|otpool|worker)-[0-9a-f]{18}$'
       and not exists (select from {{.schema}}._gw_workers as w where w.id = j.locked_by)
     group by j.task_id
  )
  select 'warning',
         'limit beside Node',
         'limit ' || i.name,
         format('The Node worker %s runs the task %s, whose jobs have queue names. It sees these jobs and starts them '
                'whatever the limit says; they are not counted.', s.worker, t.identifier),
         'Leave the task to workers of gw, or add its jobs without queue names.'
    from {{.schema}}._gw_limits as i
   cross join served as s
    join {{.schema}}._private_tasks as t on t.id = s.task_id
   where (i.tasks is null or t.identifier = any (i.tasks))
     and (s.is_queued
          or (select true -- the first one, by the index; a join could read all jobs
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id > 0 and j.task_id = s.task_id
               order by j.priority, j.run_at, j.id
               limit 1))
   order by i.name, t.identifier
   limit 10;
end;
$$;

comment on function {{.schema}}._gw_find_node_limits(bigint) is 'Internal: limits that Node workers do not obey: of tasks whose jobs have queue names.';
