-- Returns a job that a worker holds by this lease, with the columns of get_job_batch. It is for a job that was claimed
-- without being read, because an unreadable job makes get_job_batch fail. Returns no row if the worker does not hold
-- the job by this lease.
create or replace function {{.schema}}._gw_held_job(worker_id text, job_id bigint, by_lease bigint)
  returns table (
    id bigint, task_identifier text, payload json, queue_name text, priority smallint, run_at timestamptz,
    attempts smallint, max_attempts smallint, key text, flags jsonb, lease bigint, created_at timestamptz,
    last_error text, revision integer, streak integer, width integer) language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select j.id,
         (select t.identifier from {{.schema}}._private_tasks as t where t.id = j.task_id),
         j.payload,
         (select q.queue_name from {{.schema}}._private_job_queues as q where q.id = j.job_queue_id),
         j.priority, j.run_at, j.attempts, j.max_attempts, j.key, j.flags, by_lease, j.created_at, j.last_error,
         j.revision, null::integer, null::integer
    from {{.schema}}._private_jobs as j
   where j.id = job_id
     and j.locked_by = worker_id
     and {{.schema}}._gw_is_held(j.locked_at, by_lease)
$$;
