-- Returns the ids of jobs that match all given conditions, highest first, for lists with pages. A condition that is
-- null is ignored; error_prefix is the beginning of the last error, error_group what error_groups returns; key_prefix,
-- the beginning of the key; error_part, a part of the last error in any case of letters; worker, who holds the job;
-- payload_value, the text of the field of the payload to which the dots of payload_path lead.
-- The cost of a call is bounded, however many jobs there are and however few match: after max_read jobs it ends,
-- whether it has found max_rows or not. next_id is the below_id with which the search continues, null if it has ended.
-- Running jobs are found among those that registered workers told in their last heartbeat, and in a sample of 20 000
-- pages of the table for other workers; is_sample is true if it was not the whole table.
-- Failed jobs, a job by its key, and the ready or scheduled jobs of a queue with fewer than 10 000 of them are found by
-- indexes.
-- Raises GWIST (no such state), GWILM (max_rows or max_read is negative).
create or replace function {{.schema}}.search_jobs(
  job_state     text     default null,
  task          text     default null,
  queue         text     default null,
  job_key       text     default null,
  error_prefix  text     default null,
  older_than    interval default null,
  newer_than    interval default null,
  below_id      bigint   default null,
  max_rows      integer  default 50,
  max_read      integer  default 100000,
  error_group   text     default null,
  key_prefix    text     default null,
  error_part    text     default null,
  worker        text     default null,
  payload_path  text     default null,
  payload_value text     default null
)
  returns table (job_ids bigint[], next_id bigint, is_sample boolean)
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
  candidates  bigint[];
  share       constant real := {{.schema}}._gw_share_seen('_private_jobs', 20000);
  part        constant text := {{.schema}}._gw_part_of_group(error_group);
begin
  perform {{.schema}}._gw_check_state(job_state);
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  perform {{.schema}}._gw_check_limit('max_read', max_read);
  job_ids := '{}';
  is_sample := false;
  wanted_task := (select t.id from {{.schema}}._private_tasks as t where t.identifier = task);
  if task is not null and wanted_task is null then
    return next;
    return;
  end if;
  if job_state = 'running' then
    is_sample := share < 100;
    candidates := array(select t.job_id from {{.schema}}._gw_told_jobs() as t)
                  || array(select j.id from {{.schema}}._private_jobs as j tablesample system (share)
                            where j.locked_at is not null limit 10000);
  end if;
  if queue is not null then
    queue_ids := array[(select q.id from {{.schema}}._private_job_queues as q where q.queue_name = queue), -2];
    if queue_ids[1] is null and not exists (select from {{.schema}}._gw_suspects as s where s.queue_name = queue) then
      return next;
      return;
    end if;
    if job_state in ('ready', 'scheduled') then
      candidates := {{.schema}}._gw_few_available(queue_ids);
    end if;
  end if;

  -- Each call is planned for its conditions; conditions that are null are removed by the planner. The inner query reads
  -- at most max_read jobs, by an index on id. The last of them is returned whether it matches or not: if it is read,
  -- there may be more.
  select coalesce(array_agg(f.id order by f.id desc) filter (where f.matches), '{}'),
         min(f.id) filter (where f.place = max_read)
    into job_ids, next_id
    from (select r.id, r.place, m.matches
            from (select j.id, j.task_id, j.job_queue_id, j.run_at, j.attempts, j.max_attempts, j.locked_at,
                         j.created_at, j.last_error, j.key, j.locked_by, j.payload,
                         row_number() over (order by j.id desc) as place
                    from {{.schema}}._private_jobs as j
                   where (below_id is null or j.id < below_id)
                     and (candidates is null or j.id = any (candidates))
                     and (search_jobs.job_key is null or j.key = search_jobs.job_key)
                     and (job_state is distinct from 'failed' or (j.locked_at is null and not j.is_available
                              and case when j.locked_at is not null then j.job_queue_id else 0 end = 0))
                   order by j.id desc
                   limit max_read) as r
           cross join lateral (
                  select (wanted_task is null or r.task_id = wanted_task)
                         and (queue_ids is null
                              -- without a queue the rest is not evaluated
                              or coalesce(r.job_queue_id = any (queue_ids), false)
                                 and (r.job_queue_id > 0 or {{.schema}}._gw_queue_name(r.job_queue_id, r.id) = queue))
                         and (error_prefix is null or starts_with(r.last_error, error_prefix))
                         and (search_jobs.error_group is null
                              or {{.schema}}._gw_is_of_group(r.last_error, search_jobs.error_group, part))
                         and (key_prefix is null or starts_with(r.key, key_prefix))
                         and (error_part is null or strpos(lower(r.last_error), lower(error_part)) > 0)
                         and (worker is null or r.locked_by = worker)
                         and (payload_path is null or {{.schema}}._gw_has_value(r.payload, payload_path, payload_value))
                         and (older_than is null or r.created_at <= {{.schema}}._gw_before(now(), older_than))
                         and (newer_than is null or r.created_at > {{.schema}}._gw_before(now(), newer_than))
                         and (job_state is null
                              or {{.schema}}.job_state(r.run_at, r.attempts, r.max_attempts, r.locked_at) = job_state)
                         as matches) as m
           where m.matches or r.place = max_read
           order by r.id desc
           limit max_rows) as f;
  if cardinality(job_ids) >= max_rows then
    next_id := job_ids[cardinality(job_ids)];
  end if;
  return next;
end;
$$;

comment on function {{.schema}}.search_jobs(text, text, text, text, text, interval, interval, bigint, integer, integer, text, text, text, text, text, text) is
  'Returns the ids of at most max_rows jobs that match all given conditions, highest first, and next_id: the below_id with which the search continues, null if it has ended. A call reads at most max_read jobs, so it may return fewer jobs, or none, although there are more. is_sample: running jobs of workers that are not registered may be missing. error_prefix: the beginning of the last error; error_group: as error_groups returns it; key_prefix: the beginning of the key; error_part: a part of the last error, in any case of letters; worker: who holds the job; payload_value: the text of the field of the payload to which payload_path leads, such as customer.id; the other conditions are those of matching_job_ids.';

-- Returns whether the field of a payload to which a path leads, such as customer.id, has this text. An escape that
-- stands for no text has none.
create or replace function {{.schema}}._gw_has_value(payload json, path text, value text)
  returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(payload #>> string_to_array(path, '.') = value, false);
exception when others then
  return false;
end;
$$;

comment on function {{.schema}}._gw_has_value(json, text, text) is 'Internal: returns whether the field of a payload to which a path leads, such as customer.id, has this text.';

-- Returns the available jobs in these queues, null if they are 10 000 or more.
create or replace function {{.schema}}._gw_few_available(queue_ids integer[])
  returns bigint[] language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off
as $$
declare
  ids bigint[] := array(
    select j.id
      from {{.schema}}._private_jobs as j
     where j.job_queue_id = any (queue_ids) and j.is_available
     limit 10000);
begin
  return case when cardinality(ids) < 10000 then ids end;
end;
$$;

comment on function {{.schema}}._gw_few_available(integer[]) is 'Internal: returns the available jobs in these queues, null if they are 10 000 or more.';
