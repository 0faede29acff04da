-- Returns those of these jobs that a worker holds by this lease, as get_job_batch does. Workers call it for a job that
-- they have claimed without reading it, because an unreadable job makes get_job_batch fail. The function sets no
-- search_path, so that PostgreSQL inlines it.
create or replace function {{.schema}}._gw_held_jobs(worker_id text, job_ids bigint[], by_lease bigint)
  returns table (
    id bigint, task_identifier text, payload json, queue_name text, priority smallint, run_at timestamptz,
    attempts smallint, max_attempts smallint, key text, flags jsonb, lease bigint, created_at timestamptz,
    last_error text, revision integer, streak integer, width integer) language sql stable
as $$
  select j.id,
         (select t.identifier from {{.schema}}._private_tasks as t where t.id operator(pg_catalog.=) j.task_id), -- null: deleted by hand
         j.payload,
         (select q.queue_name from {{.schema}}._private_job_queues as q where q.id operator(pg_catalog.=) j.job_queue_id),
         j.priority, j.run_at, j.attempts, j.max_attempts, j.key, j.flags, by_lease, j.created_at, j.last_error, j.revision,
         case when j.job_queue_id operator(pg_catalog.>) 0 then j.job_queue_id end,
         case when j.job_queue_id operator(pg_catalog.>) 0 then 1 end
    from {{.schema}}._private_jobs as j
   where j.id operator(pg_catalog.=) any (job_ids) and j.locked_by operator(pg_catalog.=) worker_id
     and {{.schema}}._gw_is_held(j.locked_at, by_lease)
   order by j.priority, j.run_at, j.id
$$;
