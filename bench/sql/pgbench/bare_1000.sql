-- The yardstick for add_jobs: as many rows, made on the spot. task is the id of the task.
insert into {{.schema}}._private_jobs (job_queue_id, task_id, payload, run_at, max_attempts, priority, flags)
select null, :task, '{"number": 1}', now(), 25, 0, null from generate_series(1, 1000);
