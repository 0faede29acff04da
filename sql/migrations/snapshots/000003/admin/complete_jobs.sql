-- Deletes these jobs as completed, and returns them. Running jobs are skipped, unless their lock is older than four
-- hours.
-- Locks: job rows by id. Records the act for list_audit, as do the other functions for administrators.
create or replace function {{.schema}}.complete_jobs(
  job_ids bigint[]
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  done bigint;
begin
  perform set_config('gw.outcome', 'completed', true); -- for the history
  return query
  delete from {{.schema}}._private_jobs as j
   using (select l.id
            from {{.schema}}._private_jobs as l
           where l.id = any (job_ids)
             and (l.locked_at is null or l.locked_at < now() - interval '4 hours')
           order by l.id
             for update) as free
   where j.id = free.id
  returning j.*;
  get diagnostics done = row_count;
  perform set_config('gw.outcome', '', true);
  if done > 0 then
    perform {{.schema}}._gw_record_act('complete', done, null, complete_jobs.job_ids);
  end if;
end;
$$;

comment on function {{.schema}}.complete_jobs(bigint[]) is
  'Deletes these jobs as completed and returns them. Running jobs are skipped, unless their lock is older than four hours.';
