-- Trigger: a named queue became free, by whatever statement. If its next job is due, somebody must come for it: the
-- worker that frees a queue may have looked for work before the queue was free.
-- Deferred to the commit, for a job may come to the queue while the transaction goes on: whoever is told of that job finds
-- the queue locked. An older snapshot cannot show it, so that above READ COMMITTED somebody is told in any case.
-- With the rights of the owner, for by then those of the function that freed the queue are gone.
create or replace function {{.schema}}._gw_queue_freed()
  returns trigger
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
begin
  -- _gw_wake(1) without the cost of a call, which every queued job would pay.
  perform pg_notify('jobs:insert', '{"count":1}')
    where (exists (select from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id = new.id and j.run_at <= clock_timestamp())
           or current_setting('transaction_isolation') <> 'read committed')
      and case (select s.value from {{.schema}}._gw_settings as s where s.name = 'notify')
            when 'never' then false
            when 'idle'  then current_setting('transaction_isolation') <> 'read committed'
                              or exists (select from {{.schema}}._gw_sleepers as s where s.until > statement_timestamp())
            else true
          end;
  return null;
end;
$$;

comment on function {{.schema}}._gw_queue_freed() is
  'Trigger on _private_job_queues: wakes a worker when a queue becomes free and a due job waits in it.';
