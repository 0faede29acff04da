-- What takes gw out of a schema that it has adopted. Run it in one transaction, after another with Graphile Worker's own
-- functions, which take the place of those we share. docs/adopt.md says when.

-- A call of add_job that began before functions.sql still runs gw's function, which needs the functions that are dropped
-- below. Therefore wait for every transaction that is open now, then lock the tables, in several attempts with a timeout,
-- so that no other session ends in a deadlock.
do $$
declare
  open_before text[];
  still_open  text;
begin
  if exists (select
               from graphile_worker._gw_objects() as o
               left join graphile_worker._gw_installed as i on i.object = o.object and i.digest = o.digest
              where o.object ~ '\.(add_jobs?|remove_job|(complete|permanently_fail|reschedule)_jobs|force_unlock_workers)\('
                and (i.object is not null or o.made_here)) then
    raise exception 'Run functions.sql first, in a transaction of its own.';
  end if;
  if exists (select from graphile_worker._gw_limits) or exists (select from graphile_worker._gw_pauses) then
    raise exception 'There are limits or pauses, which Graphile Worker does not know. End them first.';
  end if;
  if to_regclass('graphile_worker.jobs_key_key1') is null or to_regclass('graphile_worker.jobs_main_index') is null then
    raise exception 'Indexes that Graphile Worker needs are missing. Create them first, as performance.md shows.';
  end if;

  open_before := array(
    select l.virtualtransaction
      from pg_locks as l
      join pg_stat_activity as a on a.pid = l.pid
     where l.locktype = 'virtualxid' and l.granted and a.usesysid is not null
       and a.datname = current_database() and a.pid <> pg_backend_pid());
  for round in 1..6000 loop
    select string_agg(l.pid::text, ', ') into still_open
      from pg_locks as l
     where l.locktype = 'virtualxid' and l.virtualtransaction = any (open_before);
    exit when still_open is null;
    if round = 6000 then
      raise exception 'Transactions of sessions % have been open for ten minutes; end them and run this again.', still_open;
    end if;
    perform pg_sleep(0.1);
  end loop;

  perform set_config('lock_timeout', '500ms', true);
  for round in 1..100 loop
    begin
      lock table graphile_worker._private_jobs, graphile_worker._private_job_queues in access exclusive mode;
      exit;
    exception when lock_not_available then
      if round = 100 then
        raise;
      end if;
      perform pg_sleep(1);
    end;
  end loop;
  perform set_config('lock_timeout', '0', true);
end
$$;

-- What gw has hidden from Graphile Worker becomes visible: jobs that waited under limits or pauses, or whose workers died.
update graphile_worker._private_jobs as j
   set job_queue_id = case when j.job_queue_id = -2 then graphile_worker._gw_unheld(j.job_queue_id, j.id) end
 where j.job_queue_id < 0;

-- Drop the schema for roles, if gw-migrate grants has created it, and revoke what gw-migrate has granted to other roles
-- than the owner.
delete from graphile_worker._gw_grants;
select graphile_worker._gw_apply_grants();
do $$
declare
  command text;
begin
  for command in
    select format('revoke %s from %s', s.right_to, s.role)
      from graphile_worker._gw_shared_rights as s
     where (s.role = 'public' or to_regrole(s.role) is not null)
       and (s.right_to not like 'execute on function %' or to_regprocedure(substr(s.right_to, 21)) is not null)
  loop
    execute command;
  end loop;
end
$$;

-- Drop the views and functions that Graphile Worker does not have.
drop view graphile_worker.cron_schedules, graphile_worker.recurring_jobs;
drop procedure graphile_worker.wait_for_job;
drop function
  graphile_worker.add_job_once,
  graphile_worker.await_jobs,
  graphile_worker.backoff,
  graphile_worker.browse_jobs,
  graphile_worker.cancel_jobs,
  graphile_worker.cleanup,
  graphile_worker.complete_job,
  graphile_worker.complete_job_batch,
  graphile_worker.copy_job,
  graphile_worker.cron_add_job,
  graphile_worker.cron_between,
  graphile_worker.cron_matches,
  graphile_worker.cron_next,
  graphile_worker.cron_pause,
  graphile_worker.cron_resume,
  graphile_worker.cron_schedule,
  graphile_worker.cron_unschedule,
  graphile_worker.debounce_job,
  graphile_worker.deregister_worker,
  graphile_worker.drain_worker,
  graphile_worker.doctor,
  graphile_worker.drop_limit,
  graphile_worker.error_groups,
  graphile_worker.expect_result,
  graphile_worker.fail_job,
  graphile_worker.fail_job_batch,
  graphile_worker.fall_asleep,
  graphile_worker.first_waiting,
  graphile_worker.get_job,
  graphile_worker.get_job_alone,
  graphile_worker.get_job_batch,
  graphile_worker.heartbeat,
  graphile_worker.held_by_workers,
  graphile_worker.job_ends,
  graphile_worker.job_history,
  graphile_worker.job_results,
  graphile_worker.job_state,
  graphile_worker.job_steps,
  graphile_worker.jobs_for_scaling,
  graphile_worker.jobs_without_data,
  graphile_worker.keep_task,
  graphile_worker.list_audit,
  graphile_worker.list_history,
  graphile_worker.list_jobs,
  graphile_worker.list_kept_tasks,
  graphile_worker.list_lanes,
  graphile_worker.list_limits,
  graphile_worker.list_pauses,
  graphile_worker.list_queues,
  graphile_worker.list_samples,
  graphile_worker.list_settings,
  graphile_worker.list_tasks,
  graphile_worker.list_workers,
  graphile_worker.make_room,
  graphile_worker.matching_job_ids,
  graphile_worker.next_run_at,
  graphile_worker.open_lane,
  graphile_worker.override_lane,
  graphile_worker.pause,
  graphile_worker.queue_depth,
  graphile_worker.queue_stats,
  graphile_worker.rate_limited,
  graphile_worker.rate_limited_batch,
  graphile_worker.redrive_jobs,
  graphile_worker.register_worker,
  graphile_worker.renew_leases,
  graphile_worker.repair,
  graphile_worker.reset_stale_locks,
  graphile_worker.resume,
  graphile_worker.retry_jobs,
  graphile_worker.return_job,
  graphile_worker.return_job_batch,
  graphile_worker.return_unknown_jobs,
  graphile_worker.run_cron,
  graphile_worker.save_step,
  graphile_worker.search_jobs,
  graphile_worker.set_limit,
  graphile_worker.set_progress,
  graphile_worker.set_setting,
  graphile_worker.setting,
  graphile_worker.show_jobs,
  graphile_worker.skip_reasons,
  graphile_worker.stale_sweep,
  graphile_worker.still_in_flight,
  graphile_worker.stop_keeping_task,
  graphile_worker.task_stats,
  graphile_worker.throttle_job,
  graphile_worker.tidy,
  graphile_worker.wake_up,
  graphile_worker.why;

-- Drop the triggers, functions, tables, indexes and types whose names begin with _gw_.
do $$
declare
  command text;
begin
  for command in
    select format('drop trigger %I on %s', g.tgname, g.tgrelid::regclass)
      from pg_trigger as g
      join pg_class as c on c.oid = g.tgrelid
     where c.relnamespace = 'graphile_worker'::regnamespace and g.tgname like '\_gw\_%'
  loop
    execute command;
  end loop;
  for command in
    select format('drop routine %s', p.oid::regprocedure)
      from pg_proc as p
     where p.pronamespace = 'graphile_worker'::regnamespace and p.proname like '\_gw\_%'
  loop
    execute command;
  end loop;
  for command in
    select format('drop %s %s', case c.relkind when 'c' then 'type' when 'i' then 'index' else 'table' end, c.oid::regclass)
      from pg_class as c
     where c.relnamespace = 'graphile_worker'::regnamespace and c.relname like '\_gw\_%' and not c.relispartition
       and (c.relkind in ('r', 'p', 'c') or c.oid in (select i.indexrelid from pg_index as i
                                          where i.indrelid = 'graphile_worker._private_jobs'::regclass
                                             or i.indrelid = 'graphile_worker._private_job_queues'::regclass))
  loop
    execute command;
  end loop;
end
$$;

-- gw gives a job that was replaced while it ran one attempt more than its maximum; Graphile Worker's clean-up expects the
-- maximum.
update graphile_worker._private_jobs
   set attempts = max_attempts
 where attempts > max_attempts and locked_at is null;

-- Reset the storage parameters of two tables and two indexes, and remove the comments on the functions that remain.
alter index graphile_worker.jobs_pkey1 reset (fillfactor);
alter index graphile_worker.jobs_key_key1 reset (deduplicate_items);
alter table graphile_worker._private_jobs reset (fillfactor);
alter table graphile_worker._private_job_queues reset (fillfactor);
do $$
declare
  command text;
begin
  for command in
    select format('comment on function %s is null', p.oid::regprocedure)
      from pg_proc as p
     where p.pronamespace = 'graphile_worker'::regnamespace
  loop
    execute command;
  end loop;
end
$$;

-- Restore the index that was changed. Graphile Worker also works with gw's index: to avoid the lock on the table, leave
-- these two statements out.
drop index graphile_worker.jobs_no_queue_index;
create index jobs_no_queue_index
  on graphile_worker._private_jobs (priority, run_at) include (id, task_id)
  where is_available = true and job_queue_id is null;
