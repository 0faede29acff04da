-- All objects in the schema other than Graphile Worker's are ours, and their names show that.
begin;
select plan(4);
set local search_path = graphile_worker, public;

select results_eq(
  $$ select c.relname
       from pg_class as c
      where c.relnamespace = 'graphile_worker'::regnamespace
        and c.relkind not in ('i', 'S')
        and c.relname not like '\_gw\_%'
      order by c.relname $$,
  $$ values ('_private_job_queues'::name), ('_private_jobs'), ('_private_known_crontabs'), ('_private_tasks'),
            ('cron_schedules'), ('job_spec'), ('jobs'), ('migrations'),
            ('recurring_jobs') $$,
  'every table, view and type that is not Graphile Worker''s starts with _gw_');

select results_eq(
  $$ select distinct p.proname
       from pg_proc as p
      where p.pronamespace = 'graphile_worker'::regnamespace and p.proname not like '\_gw\_%'
      order by 1 $$,
  $$ values ('add_job'::name), ('add_job_once'), ('add_jobs'), ('await_jobs'), ('backoff'), ('browse_jobs'),
            ('cancel_jobs'), ('cleanup'), ('complete_job'), ('complete_job_batch'), ('complete_jobs'), ('copy_job'),
            ('cron_add_job'), ('cron_between'), ('cron_matches'), ('cron_next'), ('cron_pause'), ('cron_resume'),
            ('cron_schedule'), ('cron_unschedule'), ('debounce_job'), ('deregister_worker'), ('doctor'), ('drain_worker'), ('drop_limit'),
            ('error_groups'), ('expect_result'), ('fail_job'), ('fail_job_batch'), ('fall_asleep'), ('first_waiting'),
            ('force_unlock_workers'), ('get_job'), ('get_job_alone'), ('get_job_batch'), ('heartbeat'),
            ('held_by_workers'), ('job_ends'), ('job_history'), ('job_results'), ('job_state'), ('job_steps'),
            ('jobs_for_scaling'), ('jobs_without_data'), ('keep_task'), ('list_audit'), ('list_history'), ('list_jobs'),
            ('list_kept_tasks'), ('list_lanes'), ('list_limits'), ('list_pauses'), ('list_queues'), ('list_samples'),
            ('list_settings'), ('list_tasks'), ('list_workers'), ('make_room'), ('matching_job_ids'), ('next_run_at'),
            ('open_lane'), ('override_lane'), ('pause'), ('permanently_fail_jobs'), ('queue_depth'), ('queue_stats'),
            ('rate_limited'), ('rate_limited_batch'), ('redrive_jobs'), ('register_worker'), ('remove_job'),
            ('renew_leases'), ('repair'), ('reschedule_jobs'), ('reset_stale_locks'), ('resume'), ('retry_jobs'), ('return_job'),
            ('return_job_batch'), ('return_unknown_jobs'), ('run_cron'), ('save_step'), ('search_jobs'), ('set_limit'),
            ('set_progress'), ('set_setting'), ('setting'), ('show_jobs'), ('skip_reasons'), ('stale_sweep'),
            ('still_in_flight'), ('stop_keeping_task'), ('task_stats'), ('throttle_job'), ('tidy'), ('wait_for_job'),
            ('wake_up'), ('why') $$,
  'every function that is not part of the API starts with _gw_');

select results_eq(
  $$ select t.tgname, pg_get_triggerdef(t.oid)
       from pg_trigger as t
       join pg_class as c on c.oid = t.tgrelid
      where c.relnamespace = 'graphile_worker'::regnamespace and not t.tgisinternal
      order by t.tgname $$,
  $$ values ('_gw_contexts_put'::name,
             'CREATE TRIGGER _gw_contexts_put AFTER INSERT ON graphile_worker._gw_job_context REFERENCING NEW TABLE AS put '
             'FOR EACH STATEMENT EXECUTE FUNCTION _gw_contexts_put()'),
            ('_gw_queue_freed',
             'CREATE CONSTRAINT TRIGGER _gw_queue_freed AFTER UPDATE OF locked_at ON graphile_worker._private_job_queues '
             'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW '
             'WHEN (((new.locked_at IS NULL) AND (current_setting(''gw.told''::text, true) IS DISTINCT FROM ''t''::text))) '
             'EXECUTE FUNCTION _gw_queue_freed()') $$,
  'the table of jobs has no trigger');

select is_empty(
  $$ select c.conname
       from pg_constraint as c
       join pg_class as r on r.oid = c.conrelid
      where r.relnamespace = 'graphile_worker'::regnamespace and c.contype = 'f' $$,
  'no table has a foreign key');

select * from finish();
rollback;
