-- Adds a job and returns its row, never null. If job_key is given and a job is waiting under that key, job_key_mode
-- decides: replace (default) replaces all its values, preserve_run_at replaces all but the run_at of a job that was not
-- tried yet, unsafe_dedupe replaces nothing. If the job under the key is running, it loses the key and is not tried
-- again, and a new job is added.
-- Defaults: payload {}, run_at now(), max_attempts 25, priority 0 (lower runs first).
-- Locks: name locks (see _gw_names), then the row under the key.
-- Raises GWBNI, GWBID, GWBQN, GWBJK, GWBMA, GWBMR, GWBPR, GWBNF, GWBFL, GWBPL, GWBKM; the caller may retry after GWBKC
-- and 40001.
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
  task       record; -- with the setting notify, and the new job if it has no key
  added      {{.schema}}._private_jobs;
  names_made boolean;
begin
  -- PL/pgSQL prepares each expression once per transaction when it first runs. An ordinary job skips this branch, and
  -- so the cost of the expressions in it.
  if (length(identifier) <= 128
      and num_nulls(queue_name, max_attempts, job_key, priority, flags) = 5
      and (payload is null or pg_column_size(payload) <= 2000)
      and current_setting('transaction_isolation') = 'read committed'
      and pg_try_advisory_xact_lock_shared({{.schema}}._gw_name_lock('task', identifier))
      and pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) = 0) is not true then
    -- The mode is checked only with a key; null means the default.
    if {{.schema}}._gw_job_is_refused(identifier, queue_name, max_attempts, job_key, priority, flags)
       or job_key is not null and job_key_mode not in ('replace', 'preserve_run_at', 'unsafe_dedupe') then
      perform {{.schema}}._gw_refuse_job(identifier, queue_name, max_attempts, job_key, priority, flags);
      raise exception 'Invalid job_key_mode value, expected ''replace'', ''preserve_run_at'' or ''unsafe_dedupe''.'
        using errcode = 'GWBKM';
    end if;
    if pg_column_size(payload) > 2000 then
      perform {{.schema}}._gw_check_payload(payload);
    end if;

    -- These are the locks of _gw_hold_names for one job; no query is needed unless a cleanup is running.
    if current_setting('transaction_isolation') <> 'read committed'
       or not pg_try_advisory_xact_lock_shared({{.schema}}._gw_name_lock('task', identifier))
       or queue_name is not null and not pg_try_advisory_xact_lock_shared({{.schema}}._gw_name_lock('queue', queue_name)) then
      perform {{.schema}}._gw_hold_names(array[identifier], array[queue_name]);
    end if;

    -- Names are created before the row under the key is locked. If this call held the row while it waited for a
    -- transaction that creates the same name, and that transaction waited for the row, both would deadlock.
    if queue_name is not null then
      select q.id into queue_id from {{.schema}}._private_job_queues as q where q.queue_name = add_job.queue_name;
      if not found then
        perform {{.schema}}._gw_make_names(array[identifier], array[queue_name]);
        select q.id into queue_id from {{.schema}}._private_job_queues as q where q.queue_name = add_job.queue_name;
      end if;
    elsif pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) > 0
          and {{.schema}}._gw_incoming(array[identifier]) is not null then
      queue_id := -1; -- a claim looks for the limits of the job
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
    exit when found or names_made; -- the second time the task exists, but a user's trigger may have refused the row
    perform {{.schema}}._gw_make_names(array[identifier], null);
    names_made := true;
  end loop;

  if job_key is not null then
    added := {{.schema}}._gw_add_keyed_job(
      task.id, queue_id, row(identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags)::{{.schema}}.job_spec,
      coalesce(job_key_mode, 'replace'));
    -- Of a ready job workers are notified even if nothing else has changed: those that look now pass over its row.
    if job_key_mode = 'unsafe_dedupe' and added.revision > 0
       and (added.is_available and added.run_at <= clock_timestamp()) is not true then
      return added;
    end if;
  end if;

  -- The same as _gw_wake(1), without the cost of a function call, and in the default case without a statement.
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
  'Adds a job and returns its row. identifier: the task that runs it. payload: any JSON, default {}. queue_name: jobs of one named queue run one after the other. run_at: the job does not start before this time, default now. max_attempts: 1 to 32767, default 25. job_key: a job that is waiting under this key is replaced. priority: lower runs first, default 0. flags: workers may refuse jobs by flag. job_key_mode: replace, preserve_run_at or unsafe_dedupe.';
