-- Returns which functions each kind of role may call, and which views it may read. enqueue, for producers, is not in
-- the list; the others are for producers of all tasks. Functions that do not exist are ignored.
create or replace function {{.schema}}._gw_api_calls()
  returns table (kind text, call text) language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select k.kind, c.call
    from (values
      ('producer', array[
        'add_job_once', 'debounce_job', 'throttle_job', 'job_ends', 'expect_result', 'await_jobs', 'job_results', 'wait_for_job']),
      ('worker', array[
        'register_worker', 'heartbeat', 'deregister_worker', 'stale_sweep', 'tidy', 'force_unlock_workers',
        'renew_leases', 'get_job', 'get_job_batch', 'get_job_alone', 'make_room', 'next_run_at', 'fall_asleep', 'wake_up',
        'still_in_flight', 'complete_job', 'complete_job_batch', 'fail_job', 'fail_job_batch', 'return_job',
        'return_job_batch', 'return_unknown_jobs', 'save_step', 'job_steps', 'set_progress', '_gw_set_progress', 'rate_limited',
        'rate_limited_batch', 'backoff', 'run_cron', '_gw_canceled_jobs', '_gw_complete_all', '_gw_complete_claim',
        '_gw_has_rate', '_gw_held_jobs', '_gw_job_contexts', '_gw_next_may_start', '_gw_breaking_revision',
        '_gw_breaking_version', '_gw_wants_result', '_gw_keep_results', 'queue_depth', 'list_limits', 'list_pauses']), -- the last three for its metrics
      ('scheduler', array[
        'cron_schedule', 'cron_unschedule', 'cron_pause', 'cron_resume', 'cron_add_job', 'cron_next', 'cron_between',
        'cron_matches', 'cron_schedules', 'recurring_jobs']),
      ('monitor', array[
        'jobs', 'recurring_jobs', 'job_state', 'queue_depth', 'queue_stats', 'jobs_for_scaling', 'list_tasks',
        'list_queues', 'first_waiting', 'list_workers', 'list_limits', 'list_pauses', 'list_samples', 'browse_jobs',
        'jobs_without_data', 'list_kept_tasks', 'task_stats', 'doctor']),
      ('admin', array[
        'jobs', 'recurring_jobs', 'job_state', 'job_ends', 'queue_depth', 'queue_stats', 'jobs_for_scaling', 'list_tasks',
        'list_queues', 'first_waiting', 'list_workers', 'list_samples', 'browse_jobs', 'jobs_without_data', 'doctor',
        'cron_schedules', 'cron_next', 'cron_pause', 'cron_resume', 'cron_add_job',
        'matching_job_ids', 'search_jobs', 'list_jobs', 'show_jobs', 'job_steps', 'error_groups', 'list_settings', 'list_audit',
        'held_by_workers', 'skip_reasons', 'remove_job', 'complete_jobs', 'permanently_fail_jobs', 'cancel_jobs',
        'reschedule_jobs', 'retry_jobs', 'redrive_jobs', 'copy_job', 'force_unlock_workers', 'drain_worker', 'reset_stale_locks', 'repair', 'cleanup', 'setting', 'set_setting',
        'keep_task', 'stop_keeping_task', 'list_kept_tasks', 'job_history', 'list_history', 'task_stats', 'await_jobs', 'job_results',
        'wait_for_job', 'set_limit', 'drop_limit', 'override_lane', 'open_lane', 'list_limits', 'list_lanes', 'pause', 'resume', 'list_pauses',
        'why'])
    ) as k (kind, calls)
   cross join unnest(k.calls) as c (call)
$$;

comment on function {{.schema}}._gw_api_calls() is 'Internal: returns which functions each kind of role may call, and which views it may read.';
