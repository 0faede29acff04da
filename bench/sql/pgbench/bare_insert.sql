-- What no add_job can be faster than: the row that it inserts, and no message. task is the id of the task.
insert into {{.schema}}._private_jobs (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
values (null, :task, '{"number": 1}', now(), 25, 0, null);
