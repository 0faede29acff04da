-- Tells workers to look again. job_count is how many jobs became ready: Node wakes as many workers and ignores 0, ours
-- look at every message. The same message twice in one transaction is sent once.
-- Setting notify decides whether anybody is told; add_job and _gw_queue_freed decide the same by themselves. To be called
-- after the rows are written, so that it sees the sleepers that marked themselves before they could see the rows (see
-- fall_asleep). A snapshot that is older than that, as above READ COMMITTED, may lack them. A mark that was over only
-- after the client began its statement counts, too: that time is one by which an index can be searched.
create or replace function {{.schema}}._gw_wake(
  job_count bigint
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
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

comment on function {{.schema}}._gw_wake(bigint) is
  'Internal: tells workers on jobs:insert that so many jobs became ready, 0 when only a due time moved, as far as setting notify wants it.';
