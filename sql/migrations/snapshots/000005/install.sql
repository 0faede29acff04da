-- Written by make snapshot: what differs in sql/functions from the snapshots before.

{{ template "work/_gw_lock_jobs.sql" . }}
{{ template "cron/run_cron.sql" . }}
