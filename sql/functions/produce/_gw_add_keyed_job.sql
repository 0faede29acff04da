-- add_job under a key. The caller has checked the arguments, holds the names and has made them.
-- Nothing is lost and nothing returns null however it races: the row under the key is locked first and judged by what the
-- lock found. A claim that came first shows as locked_at, so the new job is inserted beside it; one that comes later
-- finds the row locked and passes by. A key that appears between look and insert sends us round again.
-- new_id: the id for an inserted row; drawn from the sequence if null, and only when a row is really inserted.
create or replace function {{.schema}}._gw_add_keyed_job(
  identifier   text,
  payload      json,
  queue_name   text,
  run_at       timestamptz,
  max_attempts integer,
  job_key      text,
  priority     integer,
  flags        text[],
  job_key_mode text,
  new_id       bigint default null
)
  returns {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
#variable_conflict use_variable
declare
  found_job {{.schema}}._private_jobs;
  added     {{.schema}}._private_jobs;
  must_wait boolean := false;
begin
  for round in 1..100 loop
    if not must_wait then
      select j.* into found_job from {{.schema}}._private_jobs as j where j.key = job_key for update skip locked;
    else
      -- A row that loses the key while we wait stays locked by us though it is not found. We must not hold it while we
      -- wait for the next one; only to undo a block gives its lock back.
      begin
        select j.* into found_job from {{.schema}}._private_jobs as j where j.key = job_key for update;
        if not found then
          raise exception using errcode = 'GWBKC';
        end if;
      exception when sqlstate 'GWBKC' then
        found_job := null;
      end;
    end if;

    if found_job.id is not null then
      if job_key_mode = 'unsafe_dedupe' then
        update {{.schema}}._private_jobs as j
           set revision = j.revision + 1, updated_at = now()
         where j.id = found_job.id
        returning j.* into added;
        return added;
      elsif found_job.is_available then
        update {{.schema}}._private_jobs as j
           set job_queue_id = q.id,
               task_id      = t.id,
               payload      = case when json_typeof(j.payload) = 'array' and json_typeof(payload) = 'array'
                                   then (j.payload::jsonb || payload::jsonb)::json
                                   else coalesce(payload, '{}') end,
               run_at       = case when job_key_mode = 'preserve_run_at' and j.attempts = 0
                                   then j.run_at
                                   else coalesce(run_at, now()) end,
               max_attempts = coalesce(max_attempts, 25),
               priority     = coalesce(priority, 0),
               flags        = {{.schema}}._gw_flags(flags),
               revision     = j.revision + 1,
               attempts     = 0,
               last_error   = null,
               updated_at   = now()
          from {{.schema}}._private_tasks as t
          left join {{.schema}}._private_job_queues as q on q.queue_name = _gw_add_keyed_job.queue_name
         where j.id = found_job.id
           and t.identifier = _gw_add_keyed_job.identifier
           and (_gw_add_keyed_job.queue_name is null or q.id is not null)
        returning j.* into added;
        if found then
          return added;
        end if;
      else
        -- Running, or failed for good: it keeps its row and loses its key.
        perform {{.schema}}._gw_retire(found_job.id);
      end if;
    end if;

    insert into {{.schema}}._private_jobs
      (id, job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags)
    overriding system value
    select coalesce(new_id, nextval('{{ replace "'" "''" .schema }}.jobs_id_seq1')), q.id, t.id,
           coalesce(payload, '{}'), coalesce(run_at, now()), coalesce(max_attempts, 25), job_key,
           coalesce(priority, 0), {{.schema}}._gw_flags(flags)
      from {{.schema}}._private_tasks as t
      left join {{.schema}}._private_job_queues as q on q.queue_name = _gw_add_keyed_job.queue_name
     where t.identifier = _gw_add_keyed_job.identifier
       and (_gw_add_keyed_job.queue_name is null or q.id is not null)
       and not exists (select from {{.schema}}._private_jobs as j where j.key = job_key)
        on conflict (key) do nothing
    returning * into added;
    if found then
      return added;
    end if;
    perform {{.schema}}._gw_make_names(array[identifier], array[queue_name]); -- Node's clean-up minds no lock
    must_wait := true;
  end loop;

  raise exception 'Job key ''%'' changed hands 100 times during this call.', job_key
    using errcode = 'GWBKC', hint = 'Nothing was added; try again.';
end;
$$;

comment on function {{.schema}}._gw_add_keyed_job(text, json, text, timestamptz, integer, text, integer, text[], text, bigint) is
  'Internal: add_job under a key; the caller has checked the arguments, holds the names and has made them.';
