-- The SQL API, in load order.

-- Shared by several of the functions below; not part of the API.
{{ template "shared/_gw_job_is_refused.sql" . }}
{{ template "shared/_gw_refuse_job.sql" . }}
{{ template "shared/_gw_flags.sql" . }}
{{ template "shared/_gw_names.sql" . }}
{{ template "shared/_gw_retire.sql" . }}
{{ template "shared/_gw_lease.sql" . }}
{{ template "shared/_gw_times.sql" . }}
{{ template "shared/_gw_wake.sql" . }}
{{ template "shared/_gw_turns.sql" . }}
{{ template "shared/_gw_check_expiry.sql" . }}
{{ template "shared/_gw_check_worker_id.sql" . }}
{{ template "shared/_gw_check_limit.sql" . }}
{{ template "shared/_gw_check_state.sql" . }}
{{ template "shared/_gw_drop_spent_rows.sql" . }}
{{ template "shared/_gw_keep_steps.sql" . }}

-- For operators: fleet-wide settings and registered workers.
{{ template "admin/settings.sql" . }}
{{ template "fleet/workers.sql" . }}
{{ template "admin/_gw_record_act.sql" . }}
{{ template "admin/drain_worker.sql" . }}
{{ template "fleet/_gw_suspects.sql" . }}
{{ template "fleet/_gw_canceled_jobs.sql" . }}
{{ template "shared/_gw_drop_keyed_calls.sql" . }}
{{ template "shared/_gw_drop_spent.sql" . }}

-- For the history of jobs. Functions for workers and administrators call these.
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

-- The engine of limits.
{{ template "lanes/_gw_gates_of.sql" . }}
{{ template "lanes/_gw_gate_rooms.sql" . }}
{{ template "lanes/_gw_limited_tasks.sql" . }}
{{ template "lanes/_gw_make_lanes.sql" . }}
{{ template "lanes/_gw_open_lanes.sql" . }}
{{ template "lanes/_gw_candidates.sql" . }}
{{ template "lanes/_gw_choose_jobs.sql" . }}
{{ template "lanes/_gw_start_jobs.sql" . }}
{{ template "lanes/_gw_claim_limited.sql" . }}
{{ template "lanes/_gw_next_limited_at.sql" . }}

-- For limits.
{{ template "limits/_gw_rates.sql" . }}
{{ template "limits/_gw_change_limits.sql" . }}
{{ template "limits/_gw_running_at.sql" . }}
{{ template "limits/_gw_settle.sql" . }}
{{ template "limits/set_limit.sql" . }}
{{ template "limits/drop_limit.sql" . }}
{{ template "limits/override_lane.sql" . }}
{{ template "limits/open_lane.sql" . }}
{{ template "limits/_gw_paused_queues.sql" . }}
{{ template "limits/_gw_sweep_limits.sql" . }}
{{ template "limits/_gw_sweep_pauses.sql" . }}
{{ template "limits/pause.sql" . }}
{{ template "fleet/_gw_has_rate.sql" . }}

-- For producers.
{{ template "produce/_gw_check_payload.sql" . }}
{{ template "produce/_gw_merged_payload.sql" . }}
{{ template "produce/_gw_incoming.sql" . }}
{{ template "produce/_gw_add_keyed_job.sql" . }}
{{ template "produce/_gw_keyed_specs.sql" . }}
{{ template "produce/_gw_add_keyed_jobs.sql" . }}
{{ template "produce/add_job.sql" . }}
{{ template "produce/add_jobs.sql" . }}
{{ template "produce/remove_job.sql" . }}
{{ template "produce/_gw_hold_keyed_call.sql" . }}
{{ template "produce/add_job_once.sql" . }}
{{ template "produce/debounce_job.sql" . }}
{{ template "produce/throttle_job.sql" . }}
{{ template "produce/_gw_put_job_contexts.sql" . }}

-- For workers.
{{ template "report/backoff.sql" . }}
{{ template "claim/next_run_at.sql" . }}
{{ template "claim/fall_asleep.sql" . }}
{{ template "claim/still_in_flight.sql" . }}
{{ template "claim/wake_up.sql" . }}
{{ template "lease/_gw_is_stale.sql" . }}
{{ template "lease/reset_stale_locks.sql" . }}
{{ template "lease/stale_sweep.sql" . }}
{{ template "claim/_gw_suits.sql" . }}
{{ template "claim/_gw_is_free.sql" . }}
{{ template "claim/_gw_task_flags.sql" . }}
{{ template "claim/_gw_claim_cursor.sql" . }}
{{ template "claim/_gw_new_claim.sql" . }}
{{ template "claim/_gw_take_turn.sql" . }}
{{ template "claim/_gw_plain_jobs.sql" . }}
{{ template "claim/_gw_front_queues.sql" . }}
{{ template "claim/_gw_lock_queues.sql" . }}
{{ template "claim/_gw_within_bytes.sql" . }}
{{ template "claim/_gw_lock_queued_jobs.sql" . }}
{{ template "claim/_gw_claim_unlimited.sql" . }}
{{ template "claim/_gw_claim_others.sql" . }}
{{ template "claim/_gw_held_jobs.sql" . }}
{{ template "claim/get_job_batch.sql" . }}
{{ template "claim/_gw_waiting_suspects.sql" . }}
{{ template "claim/get_job_alone.sql" . }}
{{ template "claim/make_room.sql" . }}
{{ template "claim/get_job.sql" . }}
{{ template "report/_gw_outcomes.sql" . }}
{{ template "report/_gw_release.sql" . }}
{{ template "history/_gw_keep_result.sql" . }}
{{ template "history/_gw_take_results.sql" . }}
{{ template "report/complete_job_batch.sql" . }}
{{ template "report/complete_job.sql" . }}
{{ template "report/_gw_complete_all.sql" . }}
{{ template "report/_gw_complete_claim.sql" . }}
{{ template "shared/_gw_mark_escapes.sql" . }}
{{ template "report/_gw_next_may_start.sql" . }}
{{ template "report/_gw_put_back.sql" . }}
{{ template "report/fail_job.sql" . }}
{{ template "report/fail_job_batch.sql" . }}
{{ template "report/return_job_batch.sql" . }}
{{ template "report/return_job.sql" . }}
{{ template "report/rate_limited.sql" . }}
{{ template "report/return_unknown_jobs.sql" . }}
{{ template "lease/renew_leases.sql" . }}
{{ template "report/_gw_queue_freed.sql" . }}
{{ template "claim/_gw_job_contexts.sql" . }}
{{ template "work/save_step.sql" . }}
{{ template "work/set_progress.sql" . }}
{{ template "fleet/_gw_recover_jobs.sql" . }}
{{ template "fleet/_gw_free_jobs.sql" . }}
{{ template "fleet/_gw_recover_workers.sql" . }}
{{ template "fleet/heartbeat.sql" . }}
{{ template "doctor/_gw_node_workers.sql" . }}
{{ template "migrate/_gw_breaking_revision.sql" . }}
{{ template "migrate/_gw_breaking_version.sql" . }}

-- For recurring jobs.
{{ template "cron/_gw_cron_parse.sql" . }}
{{ template "cron/_gw_in_calendar.sql" . }}
{{ template "cron/_gw_cron_days.sql" . }}
{{ template "cron/_gw_zone_change.sql" . }}
{{ template "cron/_gw_cron_runs.sql" . }}
{{ template "cron/_gw_cron_is_due.sql" . }}
{{ template "cron/_gw_check_zone.sql" . }}
{{ template "cron/cron_matches.sql" . }}
{{ template "cron/cron_next.sql" . }}
{{ template "cron/cron_between.sql" . }}
{{ template "cron/_gw_cron_items.sql" . }}
{{ template "cron/_gw_remember_patterns.sql" . }}
{{ template "cron/_gw_check_crons.sql" . }}
{{ template "cron/_gw_due_crons.sql" . }}
{{ template "cron/_gw_lock_crons.sql" . }}
{{ template "cron/_gw_cron_payload.sql" . }}
{{ template "cron/_gw_add_cron_job.sql" . }}
{{ template "cron/run_cron.sql" . }}
{{ template "cron/cron_schedule.sql" . }}
{{ template "cron/cron_schedules.sql" . }}
{{ template "cron/recurring_jobs.sql" . }}

-- For inspecting jobs, queues and workers.
{{ template "inspect/job_state.sql" . }}
{{ template "inspect/job_ends.sql" . }}
{{ template "inspect/error_groups.sql" . }}
{{ template "inspect/matching_job_ids.sql" . }}
{{ template "inspect/_gw_job_progress.sql" . }}
{{ template "inspect/show_jobs.sql" . }}
{{ template "inspect/list_jobs.sql" . }}
{{ template "inspect/_gw_count_jobs.sql" . }}
{{ template "inspect/list_tasks.sql" . }}
{{ template "inspect/first_waiting.sql" . }}
{{ template "inspect/list_queues.sql" . }}
{{ template "inspect/list_workers.sql" . }}
{{ template "inspect/held_by_workers.sql" . }}
{{ template "inspect/skip_reasons.sql" . }}
{{ template "inspect/_gw_seen_gates.sql" . }}
{{ template "inspect/_gw_waiting_at.sql" . }}
{{ template "inspect/list_limits.sql" . }}
{{ template "inspect/list_lanes.sql" . }}
{{ template "inspect/list_pauses.sql" . }}
{{ template "inspect/_gw_limit_holders.sql" . }}
{{ template "inspect/_gw_jobs_before.sql" . }}
{{ template "inspect/why.sql" . }}
{{ template "inspect/queue_stats.sql" . }}
{{ template "inspect/samples.sql" . }}
{{ template "inspect/search_jobs.sql" . }}
{{ template "inspect/browse_jobs.sql" . }}
{{ template "inspect/list_settings.sql" . }}

-- For administrators.
{{ template "admin/complete_jobs.sql" . }}
{{ template "admin/permanently_fail_jobs.sql" . }}
{{ template "admin/cancel_jobs.sql" . }}
{{ template "admin/reschedule_jobs.sql" . }}
{{ template "admin/retry_jobs.sql" . }}
{{ template "admin/copy_job.sql" . }}
{{ template "admin/force_unlock_workers.sql" . }}
{{ template "admin/_gw_collect_names.sql" . }}
{{ template "admin/cleanup.sql" . }}
{{ template "admin/queue_depth.sql" . }}
{{ template "admin/jobs_for_scaling.sql" . }}
{{ template "doctor/_gw_doctor_helpers.sql" . }}
{{ template "doctor/_gw_find_replaced_functions.sql" . }}
{{ template "doctor/_gw_unpinned_functions.sql" . }}
{{ template "doctor/_gw_find_unpinned_functions.sql" . }}
{{ template "grants/_gw_direct_roles.sql" . }}
{{ template "doctor/_gw_find_lacking_roles.sql" . }}
{{ template "doctor/_gw_find_ending_identities.sql" . }}
{{ template "doctor/_gw_find_sequences_behind.sql" . }}
{{ template "doctor/_gw_find_refused_zones.sql" . }}
{{ template "doctor/_gw_find_late_schedules.sql" . }}
{{ template "doctor/_gw_find_full_notify_queue.sql" . }}
{{ template "doctor/_gw_find_two_phase_commit.sql" . }}
{{ template "doctor/_gw_find_old_snapshots.sql" . }}
{{ template "doctor/_gw_find_held_names.sql" . }}
{{ template "doctor/_gw_find_dead_rows.sql" . }}
{{ template "doctor/_gw_find_stale_locks.sql" . }}
{{ template "doctor/_gw_find_orphaned_queues.sql" . }}
{{ template "doctor/_gw_find_held_queues.sql" . }}
{{ template "doctor/_gw_find_held_limits.sql" . }}
{{ template "doctor/_gw_find_limit_holders.sql" . }}
{{ template "doctor/_gw_find_node_limits.sql" . }}
{{ template "doctor/_gw_find_mended_jobs.sql" . }}
{{ template "doctor/_gw_find_drained_workers.sql" . }}
{{ template "doctor/_gw_find_no_worker.sql" . }}
{{ template "doctor/_gw_find_unknown_tasks.sql" . }}
{{ template "doctor/_gw_find_unreadable_jobs.sql" . }}
{{ template "doctor/_gw_find_failed_jobs.sql" . }}
{{ template "doctor/_gw_find_node_indexes.sql" . }}
{{ template "doctor/_gw_find_failed_work.sql" . }}
{{ template "admin/repair.sql" . }}
{{ template "doctor/_gw_find_damage.sql" . }}
{{ template "doctor/_gw_find_unseen_rows.sql" . }}
{{ template "admin/doctor.sql" . }}
{{ template "admin/list_audit.sql" . }}

-- For roles that are not the owner; see gw-migrate grants.
{{ template "grants/_gw_api_calls.sql" . }}
{{ template "grants/_gw_seen_jobs.sql" . }}
{{ template "grants/_gw_sees_data.sql" . }}
{{ template "grants/_gw_enqueue_task.sql" . }}
{{ template "grants/_gw_enqueue_jobs.sql" . }}
{{ template "grants/_gw_remember_grants.sql" . }}
{{ template "grants/_gw_api_schema.sql" . }}
{{ template "grants/_gw_api_functions.sql" . }}
{{ template "grants/_gw_grant_statements.sql" . }}
{{ template "grants/_gw_apply_grants.sql" . }}

-- For migrations.
{{ template "migrate/_gw_record_installed.sql" . }}
{{ template "migrate/_gw_finish_migration.sql" . }}
{{ template "migrate/_gw_drop.sql" . }}

select {{.schema}}._gw_finish_migration();
