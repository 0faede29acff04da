-- Adds or replaces the job under the key of a spec for add_job. The caller has checked the spec and holds the name
-- locks. queue_id is the job_queue_id: of its named queue, -1 (see _gw_incoming) or null.
-- The function never returns null and never loses a request. It locks a waiting row under the key and replaces it. If a
-- worker has claimed that row already, locked_at is set and the function inserts a new job. A claim that comes later
-- skips the locked row. If another transaction creates or moves the key between two statements, the loop starts again.
-- new_id is the id of an inserted row; if it is null, the function draws one from the sequence. The id remains unused
-- only if another transaction holds the row under the key.
create or replace function {{.schema}}._gw_add_keyed_job(
  task_id integer, queue_id integer, spec {{.schema}}.job_spec, job_key_mode text, new_id bigint default null)
  returns {{.schema}}._private_jobs language plpgsql
  set search_path = pg_catalog, pg_temp -- add_job and add_jobs set the planner options
as $$
#variable_conflict use_variable
declare
  found_id bigint;
  waits    boolean;
  added    {{.schema}}._private_jobs;
begin
  for round in 1..100 loop
    select j.id, j.is_available into found_id, waits
      from {{.schema}}._private_jobs as j
     where j.key = spec.job_key
       for update skip locked;
    if found_id is null then
      insert into {{.schema}}._private_jobs
        (id, job_queue_id, task_id, payload, run_at, max_attempts, key, priority, flags)
      overriding system value
      values (coalesce(new_id, nextval('{{ replace "'" "''" .schema }}.jobs_id_seq1')), queue_id, task_id,
              coalesce(spec.payload, '{}'), coalesce(spec.run_at, now()), coalesce(spec.max_attempts, 25), spec.job_key,
              coalesce(spec.priority, 0), case when spec.flags is not null then {{.schema}}._gw_flags(spec.flags) end)
          on conflict (key) where key is not null do nothing
      returning * into added;
    elsif job_key_mode = 'unsafe_dedupe' then
      update {{.schema}}._private_jobs as j
         set revision = j.revision + 1, updated_at = now()
       where j.id = found_id
      returning j.* into added;
      perform {{.schema}}._gw_keep_steps(found_id, added.revision);
    elsif waits then
      update {{.schema}}._private_jobs as j
         set job_queue_id = queue_id, -- a suspect that was held becomes an ordinary job
             task_id      = _gw_add_keyed_job.task_id,
             payload      = {{.schema}}._gw_merged_payload(j.payload, spec.payload, j.key),
             run_at       = case when job_key_mode = 'preserve_run_at' and j.attempts = 0 then j.run_at
                                 else coalesce(spec.run_at, now()) end,
             max_attempts = coalesce(spec.max_attempts, 25),
             priority     = coalesce(spec.priority, 0),
             flags        = case when spec.flags is not null then {{.schema}}._gw_flags(spec.flags) end,
             revision     = j.revision + 1,
             attempts     = 0,
             last_error   = null,
             updated_at   = now()
       where j.id = found_id
      returning j.* into added;
    end if;
    if added.id is not null then
      return added;
    end if;

    -- The job is running, has failed permanently, or is locked by another transaction. If its row loses the key while
    -- this call waits, the row stays locked although the query does not return it. The call must not keep that lock
    -- while it waits for the next row. Only rolling back a subtransaction releases a row lock.
    begin
      select j.id, j.is_available into found_id, waits from {{.schema}}._private_jobs as j where j.key = spec.job_key for update;
      if not found then
        raise exception using errcode = 'GWBKC';
      end if;
      if not waits and job_key_mode <> 'unsafe_dedupe' then
        -- The job keeps its row and loses its key.
        perform {{.schema}}._gw_retire(found_id);
      end if;
    exception when sqlstate 'GWBKC' then
      null;
    end;
  end loop;

  raise exception 'The row under the job key ''%'' was replaced 100 times during this call.', spec.job_key
    using errcode = 'GWBKC', hint = 'Nothing was added; try again.';
end;
$$;
