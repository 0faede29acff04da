-- Written by make snapshot: what differs in sql/functions from the snapshots before.

{{ template "produce/add_job.sql" . }}
{{ template "work/_gw_lock_jobs.sql" . }}
{{ template "work/_gw_outcomes.sql" . }}
{{ template "work/complete_job.sql" . }}
{{ template "work/complete_job_batch.sql" . }}
{{ template "work/_gw_complete_claim.sql" . }}
{{ template "work/_gw_fail_jobs.sql" . }}
{{ template "work/return_job_batch.sql" . }}
{{ template "cron/run_cron.sql" . }}
{{ template "doctor/_gw_find_two_phase_commit.sql" . }}
{{ template "admin/doctor.sql" . }}
