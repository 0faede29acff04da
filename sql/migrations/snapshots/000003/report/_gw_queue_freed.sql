-- Trigger: a statement has freed a named queue. If the queue is paused, its pause takes it. If the next job of the
-- queue is due, the trigger notifies the workers: the worker that freed the queue may have searched for jobs before the
-- queue was free.
-- The trigger is deferred to the commit, because a job may be added to the queue while the transaction is open; a
-- worker notified of that job finds the queue locked. Above READ COMMITTED the snapshot may be too old to show such a
-- job, so the trigger notifies in any case.
-- The function is security definer: at the commit, the rights of the function that freed the queue no longer apply.
create or replace function {{.schema}}._gw_queue_freed()
  returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off
as $$
begin
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) > 0 then
    perform {{.schema}}._gw_take_paused(array[new.id]); -- Node workers free queues, too
  end if;
  perform {{.schema}}._gw_wake(1)
    where exists (select from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id = new.id and j.run_at <= clock_timestamp())
       or current_setting('transaction_isolation') <> 'read committed';
  return null;
end;
$$;

comment on function {{.schema}}._gw_queue_freed() is 'Internal: trigger: a statement has freed a named queue.';
