-- Notifies the workers. job_count is the number of jobs that became ready: Node wakes as many workers and ignores 0;
-- our workers search for jobs after every notification. PostgreSQL sends identical notifications of one transaction
-- only once.
-- The setting notify decides whether a notification is sent; add_job and _gw_queue_freed make the same decision in
-- their own code. Call this function after the rows are written, so that it sees the marks of workers that fell asleep
-- before they could see the rows (see fall_asleep). Above READ COMMITTED an older snapshot may lack them. A mark that
-- expired after the client began its statement still counts, because an index can be searched for that time.
create or replace function {{.schema}}._gw_wake(job_count bigint)
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
as $$
begin
  perform pg_notify('jobs:insert', '{"count":' || job_count || '}')
    where case (select s.value from {{.schema}}._gw_settings as s where s.name = 'notify')
            when 'never' then false
            when 'idle'  then current_setting('transaction_isolation') <> 'read committed'
                              or exists (select from {{.schema}}._gw_sleepers as s where s.until > statement_timestamp())
            else true
          end;
end;
$$;
