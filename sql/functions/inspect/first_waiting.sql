-- Returns the due job of a task or of a queue, or of both, that comes first in the order of claims; no row if none is
-- known. Whether something holds it back does not matter; why() tells that. The cost is bounded: of the jobs without a
-- queue, and of a queue, the first max_read in that order are read; of lanes, the first jobs of 1000.
-- Raises GWILM (max_read is negative).
create or replace function {{.schema}}.first_waiting(
  task     text    default null,
  queue    text    default null,
  max_read integer default 100000
)
  returns table (
    job_id bigint,
    run_at timestamptz
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  wanted    constant integer := (select t.id from {{.schema}}._private_tasks as t where t.identifier = task);
  wanted_in constant integer := (select q.id from {{.schema}}._private_job_queues as q where q.queue_name = queue);
begin
  perform {{.schema}}._gw_check_limit('max_read', max_read);
  if queue is not null then
    return query
    select f.id, f.run_at
      from (select j.id, j.run_at, j.task_id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = wanted_in and j.run_at <= now()
             order by j.priority, j.run_at, j.id
             limit max_read) as f
     where task is null or f.task_id = wanted
     limit 1;
    return;
  end if;
  return query
  select o.id, o.run_at
    from ((select f.id, f.run_at, f.priority
             from (select j.id, j.run_at, j.priority, j.task_id
                     from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id is null and j.run_at <= now()
                    order by j.priority, j.run_at, j.id
                    limit max_read) as f
            where f.task_id = wanted
            limit 1)
          union all
          (select j.id, j.run_at, j.priority
             from {{.schema}}._private_jobs as j
            where j.is_available and j.job_queue_id > 0 and j.task_id = wanted and j.run_at <= now()
            order by j.priority, j.run_at, j.id
            limit 1)
          union all
          (select j.id, j.run_at, j.priority
             from {{.schema}}._private_jobs as j
            where j.is_available and j.job_queue_id = -1 and j.task_id = wanted and j.run_at <= now()
            order by j.priority, j.run_at, j.id
            limit 1)
          union all
          (select f.id, f.run_at, f.priority
             from (select l.id from {{.schema}}._gw_lanes as l where l.task_id = wanted order by l.run_at limit 1000) as l
            cross join lateral (
                   select j.id, j.run_at, j.priority
                     from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id = l.id and j.task_id = wanted and j.run_at <= now()
                    order by j.priority, j.run_at, j.id
                    limit 1) as f
            order by f.priority, f.run_at, f.id
            limit 1)) as o
   order by o.priority, o.run_at, o.id
   limit 1;
end;
$$;

comment on function {{.schema}}.first_waiting(text, text, integer) is
  'Returns the due job of a task or of a queue, or of both, that comes first in the order of claims, whether something holds it back or not; no row if there is none among the first max_read jobs.';
