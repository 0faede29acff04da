begin;
set local lock_timeout = '5s';
lock table graphile_worker._private_jobs;
create index jobs_main_index on graphile_worker._private_jobs (priority, run_at)
  include (id, task_id, job_queue_id) where is_available = true;
alter table graphile_worker._private_jobs add constraint jobs_key_key1
  unique (key) with (deduplicate_items = off); -- PostgreSQL 12: without the "with"
drop index graphile_worker._gw_jobs_key;
commit;
