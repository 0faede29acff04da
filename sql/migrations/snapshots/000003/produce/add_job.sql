-- Adds a job and returns its row, never null. With a job_key, a job that is still waiting under that key is replaced:
-- by job_key_mode replace (default) in everything, by preserve_run_at in everything but a first run_at, by unsafe_dedupe
-- in nothing. A running job under the key is let go: it may end, but not run again, and the new job stands beside it.
-- Omitted: payload {}, run_at now(), max_attempts 25, priority 0 (lower runs first).
-- Locks: the names in use (see _gw_names), then the row under the key.
-- Raises GWBNI, GWBID, GWBQN, GWBJK, GWBMA, GWBMR, GWBPR, GWBNF, GWBFL, GWBPL, GWBKM; GWBKC and 40001 ask for another try.
create or replace function {{.schema}}.add_job(
  identifier   text,
  payload      json        default null,
  queue_name   text        default null,
  run_at       timestamptz default null,
  max_attempts integer     default null,
  job_key      text        default null,
  priority     integer     default null,
  flags        text[]      default null,
  job_key_mode text        default 'replace'
)
  returns {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
declare
  queue_id   integer;
  task       record; -- and setting notify, and the job if it has no key
  added      {{.schema}}._private_jobs;
  names_made boolean;
begin
  -- Each expression that is met has to be made ready in every transaction. So whatever is not asked of an ordinary job
  -- stands in this branch, which it does not take.
  if (length(identifier) <= 128
      and num_nulls(queue_name, max_attempts, job_key, priority, flags) = 5
      and (payload is null or pg_column_size(payload) <= 2000)
      and current_setting('transaction_isolation') = 'read committed'
      and pg_try_advisory_xact_lock_shared({{.schema}}._gw_name_lock('task', identifier))) is not true then
    -- The mode counts only with a key; null is the default.
    if {{.schema}}._gw_job_is_refused(identifier, queue_name, max_attempts, job_key, priority, flags)
       or job_key is not null and job_key_mode not in ('replace', 'preserve_run_at', 'unsafe_dedupe') then
      perform {{.schema}}._gw_refuse_job(identifier, queue_name, max_attempts, job_key, priority, flags);
      raise exception 'Invalid job_key_mode value, expected ''replace'', ''preserve_run_at'' or ''unsafe_dedupe''.'
        using errcode = 'GWBKM';
    end if;
    if pg_column_size(payload) > 2000 then
      perform {{.schema}}._gw_check_payload(payload);
    end if;

    -- _gw_hold_names for one job: no query while nobody cleans up.
    if current_setting('transaction_isolation') <> 'read committed'
       or not pg_try_advisory_xact_lock_shared({{.schema}}._gw_name_lock('task', identifier))
       or queue_name is not null and not pg_try_advisory_xact_lock_shared({{.schema}}._gw_name_lock('queue', queue_name)) then
      perform {{.schema}}._gw_hold_names(array[identifier], array[queue_name]);
    end if;

    -- New names come before the row under the key: to wait for somebody who makes the same name while we hold a row that
    -- he waits for would be a deadlock.
    if queue_name is not null then
      select q.id into queue_id from {{.schema}}._private_job_queues as q where q.queue_name = add_job.queue_name;
      if not found then
        perform {{.schema}}._gw_make_names(array[identifier], array[queue_name]);
        select q.id into queue_id from {{.schema}}._private_job_queues as q where q.queue_name = add_job.queue_name;
      end if;
    end if;
  end if;

  loop
    if job_key is not null then
      select t.id, (select s.value from {{.schema}}._gw_settings as s where s.name = 'notify') as notify
        into task
        from {{.schema}}._private_tasks as t
       where t.identifier = add_job.identifier;
    else
      insert into {{.schema}}._private_jobs as j
        (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
      select queue_id, t.id, coalesce(add_job.payload, '{}'), coalesce(add_job.run_at, now()),
             coalesce(add_job.max_attempts, 25), coalesce(add_job.priority, 0),
             case when add_job.flags is not null then {{.schema}}._gw_flags(add_job.flags) end
        from {{.schema}}._private_tasks as t
       where t.identifier = add_job.identifier
      returning j.task_id as id, (select s.value from {{.schema}}._gw_settings as s where s.name = 'notify') as notify, j as job
        into task;
    end if;
    exit when found or names_made; -- the second time the task is there, but a trigger of the user's may refuse the row
    perform {{.schema}}._gw_make_names(array[identifier], null);
    names_made := true;
  end loop;

  if job_key is not null then
    added := {{.schema}}._gw_add_keyed_job(
      task.id, payload, queue_id, run_at, max_attempts, job_key, priority, flags, coalesce(job_key_mode, 'replace'));
    if job_key_mode = 'unsafe_dedupe' and added.revision > 0 then
      return added;
    end if;
  end if;

  -- _gw_wake(1) without the cost of a call, and by default without that of a statement.
  if (task.notify in ('idle', 'never')) is not true then
    task.notify := pg_notify('jobs:insert', '{"count":1}')::text;
  elsif task.notify = 'idle' then
    perform pg_notify('jobs:insert', '{"count":1}')
      where current_setting('transaction_isolation') <> 'read committed'
         or exists (select from {{.schema}}._gw_sleepers as s where s.until > statement_timestamp());
  end if;
  if job_key is null then
    return task.job;
  end if;
  return added;
end;
$$;

comment on function {{.schema}}.add_job(text, json, text, timestamptz, integer, text, integer, text[], text) is
  'Adds a job and returns its row. identifier: the task that runs it. payload: any JSON, {} if omitted. queue_name: jobs of one named queue run one after the other. run_at: not before this time, now if omitted. max_attempts: 1 to 32767, 25 if omitted. job_key: replaces the job that waits under this key. priority: lower runs first, 0 if omitted. flags: workers may refuse jobs by flag. job_key_mode: replace, preserve_run_at or unsafe_dedupe.';
