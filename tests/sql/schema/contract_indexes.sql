-- The indexes of the jobs are Graphile Worker's, but for these differences, each with its reason:
--   jobs_no_queue_index has id as its third key, so that the order priority, run_at, id comes from it without a sort;
--   _gw_queued_jobs is ours, and is the same for jobs in named queues;
--   _gw_queued_tasks is ours, and is the same for those of each task;
--   _gw_queued_jobs and _gw_queued_tasks leave out jobs with limits, whose job_queue_id is negative;
--   _gw_queue_heads is ours, and finds the head job of each named queue;
--   _gw_unavailable_jobs is ours: it finds the running jobs of limits, and the failed jobs for operators;
--   _gw_incoming_jobs is ours: it finds the jobs of each task that no claim has looked at for their limits;
--   two of them have storage parameters, see migration 5.
begin;
select plan(2);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select r.relname, regexp_replace(regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING | WITH [(].*?[)]', '', 'g'), '\s+', ' ', 'g')
       from pg_index as i
       join pg_class as r on r.oid = i.indexrelid
      where i.indrelid = '_private_jobs'::regclass
      order by 1 $$,
  $$ values ('_gw_incoming_jobs'::name, 'btree (task_id, priority, run_at, id) WHERE ((is_available = true) AND (job_queue_id = ''-1''::integer))'),
            ('_gw_queue_heads',     'btree (job_queue_id, priority, run_at, id) INCLUDE (task_id) WHERE ((is_available = true) AND (job_queue_id IS NOT NULL))'),
            ('_gw_queued_jobs',     'btree (priority, run_at, id) INCLUDE (task_id, job_queue_id) WHERE ((is_available = true) AND (job_queue_id > 0))'),
            ('_gw_queued_tasks',    'btree (task_id, priority, run_at, id) INCLUDE (job_queue_id) WHERE ((is_available = true) AND (job_queue_id > 0))'),
            ('_gw_unavailable_jobs', 'btree (( CASE WHEN (locked_at IS NOT NULL) THEN job_queue_id ELSE 0 END), id) WHERE ((NOT is_available) AND ((locked_at IS NULL) OR (job_queue_id < 0)))'),
            ('jobs_key_key1',       'btree (key)'),
            ('jobs_main_index',     'btree (priority, run_at) INCLUDE (id, task_id, job_queue_id) WHERE (is_available = true)'),
            ('jobs_no_queue_index', 'btree (priority, run_at, id) INCLUDE (task_id) WHERE ((is_available = true) AND (job_queue_id IS NULL))'),
            ('jobs_pkey1',          'btree (id)') $$,
  'the indexes are those of the contract, but for id in jobs_no_queue_index and for our five');
select is(
  (select string_agg(format('%s %s', r.relname, r.reloptions), ', ' order by r.relname)
     from pg_index as i
     join pg_class as r on r.oid = i.indexrelid
    where i.indrelid = '_private_jobs'::regclass and r.reloptions is not null),
  case when current_setting('server_version_num')::integer < 130000 then '' else 'jobs_key_key1 {deduplicate_items=off}, ' end
    || 'jobs_pkey1 {fillfactor=50}',
  'claims find room in the pages of the index of ids, and need not read lists of jobs without a key');

select * from finish();
rollback;
