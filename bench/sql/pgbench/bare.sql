-- The yardstick for add_job: the row that it inserts, and the message, in one statement. task is the id of the task.
-- \003A is a colon, which pgbench would take for the start of a variable.
with added as (
  insert into {{.schema}}._private_jobs (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
  values (null, :task, '{"number": 1}', now(), 25, 0, null)
  returning id
)
select added.id, pg_notify(U&'jobs\003Ainsert', '{"count": 1}') from added;
