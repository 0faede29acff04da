-- Limits without queues whose tasks have waiting jobs in named queues, to which such limits do not apply.
create or replace function {{.schema}}._gw_find_unlimited_jobs()
  returns table (severity text, finding text, subject text, detail text, remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
begin
  return query
  select 'info',
         'jobs without limit',
         'limit ' || i.name,
         format('Jobs of the task %s wait in named queues. The limit does not apply to them, because it has no queues.', t.identifier),
         'If it should apply, set a second limit with queues, and a third one by queue with max_running 1, which keeps these queues '
         'serial; or add the jobs without a queue.'
    from {{.schema}}._gw_limits as i
   cross join lateral (
          select t.identifier
            from {{.schema}}._private_tasks as t
           where (i.tasks is null or t.identifier = any (i.tasks))
             and (select true -- the first one, by the index; a join could read all jobs
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id > 0 and j.task_id = t.id
                   order by j.priority, j.run_at, j.id
                   limit 1)
             and not exists (select from {{.schema}}._gw_limits as o
                              where o.queues is not null and not o.is_pause and (o.tasks is null or t.identifier = any (o.tasks)))
           order by t.identifier
           limit 1) as t
   where i.queues is null and not i.is_pause
   order by i.name
   limit 10;
end;
$$;

comment on function {{.schema}}._gw_find_unlimited_jobs() is
  'Internal, for doctor(): limits without queues whose tasks have jobs in named queues.';
