-- Returns the ids of the jobs that match all given conditions, in order, to be read or passed on to functions such as
-- complete_jobs. A condition that is null is ignored. The age of a job counts from its created_at, not from its run_at.
-- The function continues after after_id until it has max_rows (null: all). So a caller that calls it again with the
-- last id it got reads the table once in total, in small steps. By key, by ids, for failed jobs, and for the ready or
-- scheduled jobs of a queue it reads little more than its result; by other conditions it reads every job before its
-- result. error_group: as error_groups returns it.
-- Raises GWIST (no such state), GWILM (max_rows is negative).
create or replace function {{.schema}}.matching_job_ids(
  job_state   text     default null,
  task        text     default null,
  queue       text     default null,
  job_key     text     default null,
  older_than  interval default null,
  newer_than  interval default null,
  job_ids     bigint[] default null,
  after_id    bigint   default null,
  max_rows    integer  default 1000,
  error_group text     default null
)
  returns setof bigint
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan
  set enable_seqscan = off
  set jit = off
as $$
declare
  wanted_task integer;
  queue_ids   integer[]; -- those under which jobs of the queue may be found: its own and that of held jobs
  part        constant text := {{.schema}}._gw_part_of_group(error_group);
begin
  perform {{.schema}}._gw_check_state(job_state);
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  wanted_task := (select t.id from {{.schema}}._private_tasks as t where t.identifier = task);
  if task is not null and wanted_task is null then
    return;
  end if;
  if queue is not null then
    queue_ids := array[(select q.id from {{.schema}}._private_job_queues as q where q.queue_name = queue), -2];
    if queue_ids[1] is null and not exists (select from {{.schema}}._gw_suspects as s where s.queue_name = queue) then
      return;
    end if;
  end if;

  -- Each call is planned for its conditions; conditions that are null are removed by the planner. is_available, and the
  -- last condition, allow the use of the partial indexes.
  return query
  select j.id
    from {{.schema}}._private_jobs as j
   where (after_id is null or j.id > after_id)
     and (job_ids is null or j.id = any (job_ids))
     and (job_key is null or j.key = job_key)
     and (wanted_task is null or j.task_id = wanted_task)
     and (queue_ids is null
          or j.job_queue_id = any (queue_ids)
             and (j.job_queue_id > 0 or {{.schema}}._gw_queue_name(j.job_queue_id, j.id) = queue))
     and (older_than is null or j.created_at <= {{.schema}}._gw_before(now(), older_than))
     and (newer_than is null or j.created_at > {{.schema}}._gw_before(now(), newer_than))
     and (matching_job_ids.error_group is null
          or {{.schema}}._gw_is_of_group(j.last_error, matching_job_ids.error_group, part))
     and (job_state is null or {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at) = job_state)
     and (job_state is null or job_state in ('running', 'failed') or j.is_available)
     and (job_state is distinct from 'failed' or (j.locked_at is null and not j.is_available
              and case when j.locked_at is not null then j.job_queue_id else 0 end = 0))
   order by j.id
   limit max_rows;
end;
$$;

comment on function {{.schema}}.matching_job_ids(text, text, text, text, interval, interval, bigint[], bigint, integer, text) is
  'Returns the ids of the jobs that match all given conditions, lowest first: job_state (ready, scheduled, running or failed), task, queue, key, added before or after an age, in a list of ids, with an error of this group (see error_groups). after_id: only higher ids. max_rows: at most this many, null for all.';
