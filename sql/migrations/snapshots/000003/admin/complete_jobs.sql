-- Deletes these jobs as completed, and returns them. Running jobs are skipped, unless their lock is older than four
-- hours.
-- Locks: job rows by id. Records the act for list_audit, as do the other functions for administrators.
create or replace function {{.schema}}.complete_jobs(job_ids bigint[])
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  free  bigint[];
  ended {{.schema}}._gw_ended_job[]; -- those with an old lock
  done  bigint;
begin
  select array_agg(l.id),
         array_agg(row(l.id, l.job_queue_id, l.locked_at)::{{.schema}}._gw_ended_job)
           filter (where l.locked_at is not null)
    into free, ended
    from (select j.id, j.job_queue_id, j.locked_at
            from {{.schema}}._private_jobs as j
           where j.id = any (job_ids)
             and (j.locked_at is null or j.locked_at < now() - interval '4 hours')
           order by j.id
             for update) as l;
  perform set_config('gw.outcome', 'completed', true); -- for the history
  return query
  delete from {{.schema}}._private_jobs as j where j.id = any (free) returning j.*;
  get diagnostics done = row_count;
  perform set_config('gw.outcome', '', true);
  perform {{.schema}}._gw_release_gates(ended, 'ended'); -- their queues stay locked, as in Graphile Worker
  perform {{.schema}}._gw_record_act('complete', done, null, complete_jobs.job_ids)
    where done > 0;
end;
$$;

comment on function {{.schema}}.complete_jobs(bigint[]) is
  'Deletes these jobs as completed and returns them. Running jobs are skipped, unless their lock is older than four hours.';
