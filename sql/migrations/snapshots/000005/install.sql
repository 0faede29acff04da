-- Written by make snapshot: the differences of sql/functions from the earlier snapshots.

-- Dropped, or created again with other arguments or results.
select {{.schema}}._gw_drop('function _gw_add_keyed_jobs(job_spec[],text[],text)');
select {{.schema}}._gw_drop('function _gw_findings()');
select {{.schema}}._gw_drop('function _gw_free_queues(text,integer[])');
select {{.schema}}._gw_drop('function _gw_front_queues(integer[],bigint,text[],integer[],text[],timestamp with time zone,integer,timestamp with time zone,bigint,boolean,boolean,text)');
select {{.schema}}._gw_drop('function _gw_held_job(text,bigint,bigint)');
select {{.schema}}._gw_drop('function _gw_keep_claim_cursor(bigint[])');
select {{.schema}}._gw_drop('function _gw_lock_jobs(text,text[],integer,text[],json,timestamp with time zone,timestamp with time zone,integer)');
select {{.schema}}._gw_drop('function complete_job(text,bigint,bigint)');
select {{.schema}}._gw_drop('function complete_job_batch(text,bigint[],bigint[])');
select {{.schema}}._gw_drop('function doctor()');
select {{.schema}}._gw_drop('function get_job(text,text[],interval,text[],timestamp with time zone)');
select {{.schema}}._gw_drop('function get_job_alone(text,text[],text[],timestamp with time zone,json,boolean)');
select {{.schema}}._gw_drop('function get_job_batch(text,text[],integer,text[],timestamp with time zone,json,integer)');
select {{.schema}}._gw_drop('function show_jobs(bigint[])');

{{ template "shared/_gw_check_state.sql" . }}
{{ template "shared/_gw_drop_spent_steps.sql" . }}
{{ template "shared/_gw_keep_steps.sql" . }}
{{ template "fleet/settings.sql" . }}
{{ template "fleet/workers.sql" . }}
{{ template "admin/_gw_record_act.sql" . }}
{{ template "fleet/_gw_suspects.sql" . }}
{{ template "fleet/_gw_canceled_jobs.sql" . }}
{{ template "shared/_gw_drop_keyed_calls.sql" . }}
{{ template "shared/_gw_drop_spent.sql" . }}
{{ template "produce/_gw_check_interval.sql" . }}
{{ template "history/_gw_drop_on.sql" . }}
{{ template "history/_gw_jobs_ended.sql" . }}
{{ template "history/_gw_watch_ends.sql" . }}
{{ template "history/_gw_note_attempts.sql" . }}
{{ template "history/_gw_lines.sql" . }}
{{ template "history/_gw_pack_history.sql" . }}
{{ template "history/keep_task.sql" . }}
{{ template "history/job_history.sql" . }}
{{ template "history/list_history.sql" . }}
{{ template "history/task_stats.sql" . }}
{{ template "history/expect_result.sql" . }}
{{ template "history/wait_for_job.sql" . }}
{{ template "limits/_gw_streaks.sql" . }}
{{ template "limits/_gw_slots.sql" . }}
{{ template "limits/_gw_lane_rooms.sql" . }}
{{ template "limits/_gw_groups_of.sql" . }}
{{ template "limits/_gw_producers.sql" . }}
{{ template "limits/_gw_move_jobs.sql" . }}
{{ template "limits/_gw_barred_tasks.sql" . }}
{{ template "limits/_gw_turns.sql" . }}
{{ template "limits/_gw_lock_freed_lanes.sql" . }}
{{ template "limits/_gw_lock_lanes.sql" . }}
{{ template "limits/_gw_lock_lone_lanes.sql" . }}
{{ template "limits/_gw_lock_limited_jobs.sql" . }}
{{ template "limits/_gw_enter_lanes.sql" . }}
{{ template "limits/_gw_leave_lanes.sql" . }}
{{ template "limits/_gw_refund_starts.sql" . }}
{{ template "limits/_gw_next_front_at.sql" . }}
{{ template "limits/set_limit.sql" . }}
{{ template "limits/drop_limit.sql" . }}
{{ template "limits/override_lane.sql" . }}
{{ template "limits/open_lane.sql" . }}
{{ template "limits/list_limits.sql" . }}
{{ template "limits/pause.sql" . }}
{{ template "limits/_gw_mend_lanes.sql" . }}
{{ template "limits/_gw_has_rate.sql" . }}
{{ template "limits/_gw_drop_idle_lanes.sql" . }}
{{ template "produce/_gw_add_keyed_job.sql" . }}
{{ template "produce/_gw_add_keyed_jobs.sql" . }}
{{ template "produce/add_job.sql" . }}
{{ template "produce/add_jobs.sql" . }}
{{ template "produce/remove_job.sql" . }}
{{ template "produce/_gw_hold_keyed_call.sql" . }}
{{ template "produce/add_job_once.sql" . }}
{{ template "produce/debounce_job.sql" . }}
{{ template "produce/throttle_job.sql" . }}
{{ template "shards/shard_slot.sql" . }}
{{ template "shards/_gw_hold_shard_slot.sql" . }}
{{ template "shards/add_job_at.sql" . }}
{{ template "shards/add_jobs_at.sql" . }}
{{ template "shards/remove_job_at.sql" . }}
{{ template "shards/keyed_calls_at.sql" . }}
{{ template "shards/_gw_join_shards.sql" . }}
{{ template "shards/_gw_leave_shard_slots.sql" . }}
{{ template "shards/_gw_put_in_transit.sql" . }}
{{ template "shards/_gw_import_shard_slots.sql" . }}
{{ template "shards/_gw_crons_of_shard.sql" . }}
{{ template "work/next_run_at.sql" . }}
{{ template "work/reset_stale_locks.sql" . }}
{{ template "work/stale_sweep.sql" . }}
{{ template "work/_gw_is_free.sql" . }}
{{ template "work/_gw_claim_cursor.sql" . }}
{{ template "work/_gw_take_turn.sql" . }}
{{ template "work/_gw_front_queues.sql" . }}
{{ template "work/_gw_lock_first_queue.sql" . }}
{{ template "work/_gw_within_bytes.sql" . }}
{{ template "work/_gw_lock_jobs.sql" . }}
{{ template "work/get_job_batch.sql" . }}
{{ template "work/get_job_alone.sql" . }}
{{ template "work/make_room.sql" . }}
{{ template "work/get_job.sql" . }}
{{ template "work/_gw_outcomes.sql" . }}
{{ template "history/_gw_keep_result.sql" . }}
{{ template "history/_gw_take_results.sql" . }}
{{ template "work/complete_job.sql" . }}
{{ template "work/_gw_complete_queued.sql" . }}
{{ template "work/complete_job_batch.sql" . }}
{{ template "work/_gw_complete_claim.sql" . }}
{{ template "work/_gw_held_job.sql" . }}
{{ template "work/_gw_fail_jobs.sql" . }}
{{ template "work/return_job_batch.sql" . }}
{{ template "limits/rate_limited.sql" . }}
{{ template "work/return_unknown_jobs.sql" . }}
{{ template "work/_gw_batches.sql" . }}
{{ template "work/_gw_lock_batch.sql" . }}
{{ template "work/_gw_end_batch.sql" . }}
{{ template "work/_gw_work_batch.sql" . }}
{{ template "work/_gw_lock_tx_batch.sql" . }}
{{ template "work/_gw_end_tx_batch.sql" . }}
{{ template "work/renew_leases.sql" . }}
{{ template "work/save_step.sql" . }}
{{ template "work/set_progress.sql" . }}
{{ template "fleet/_gw_recover_jobs.sql" . }}
{{ template "fleet/_gw_recover_workers.sql" . }}
{{ template "fleet/samples.sql" . }}
{{ template "fleet/heartbeat.sql" . }}
{{ template "fleet/_gw_node_workers.sql" . }}
{{ template "cron/_gw_due_crons.sql" . }}
{{ template "cron/_gw_lock_crons.sql" . }}
{{ template "cron/run_cron.sql" . }}
{{ template "cron/cron_schedule.sql" . }}
{{ template "cron/cron_schedules.sql" . }}
{{ template "inspect/job_ends.sql" . }}
{{ template "inspect/matching_job_ids.sql" . }}
{{ template "inspect/show_jobs.sql" . }}
{{ template "inspect/list_tasks.sql" . }}
{{ template "inspect/list_queues.sql" . }}
{{ template "inspect/held_by_workers.sql" . }}
{{ template "inspect/why.sql" . }}
{{ template "inspect/search_jobs.sql" . }}
{{ template "inspect/browse_jobs.sql" . }}
{{ template "inspect/error_groups.sql" . }}
{{ template "inspect/list_settings.sql" . }}
{{ template "admin/complete_jobs.sql" . }}
{{ template "admin/permanently_fail_jobs.sql" . }}
{{ template "admin/cancel_jobs.sql" . }}
{{ template "admin/reschedule_jobs.sql" . }}
{{ template "admin/retry_jobs.sql" . }}
{{ template "admin/copy_job.sql" . }}
{{ template "admin/force_unlock_workers.sql" . }}
{{ template "admin/cleanup.sql" . }}
{{ template "admin/queue_depth.sql" . }}
{{ template "admin/jobs_for_scaling.sql" . }}
{{ template "shards/_gw_shard_load.sql" . }}
{{ template "doctor/_gw_find_replaced_functions.sql" . }}
{{ template "grants/_gw_direct_roles.sql" . }}
{{ template "doctor/_gw_find_ending_identities.sql" . }}
{{ template "doctor/_gw_find_two_phase_commit.sql" . }}
{{ template "doctor/_gw_find_old_snapshots.sql" . }}
{{ template "doctor/_gw_find_orphaned_queues.sql" . }}
{{ template "doctor/_gw_find_held_limits.sql" . }}
{{ template "doctor/_gw_find_unlimited_jobs.sql" . }}
{{ template "doctor/_gw_find_unknown_tasks.sql" . }}
{{ template "doctor/_gw_find_unreadable_jobs.sql" . }}
{{ template "doctor/_gw_find_spare_indexes.sql" . }}
{{ template "doctor/_gw_find_node_indexes.sql" . }}
{{ template "admin/doctor.sql" . }}
{{ template "admin/list_audit.sql" . }}
{{ template "grants/_gw_api_calls.sql" . }}
{{ template "grants/_gw_api_functions.sql" . }}
{{ template "grants/_gw_grant_statements.sql" . }}
{{ template "migrate/_gw_tune.sql" . }}
