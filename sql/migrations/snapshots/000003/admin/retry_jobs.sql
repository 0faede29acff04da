-- Makes these jobs run now, and returns them. Those that have failed get all their attempts again; others keep theirs.
-- Left alone are jobs that run, and those that were replaced or removed while they ran and have failed since: what took
-- their place stands beside them. (To revive one of these all the same is up to reschedule_jobs.)
-- Locks: job rows by id.
create or replace function {{.schema}}.retry_jobs(
  job_ids bigint[]
)
  returns setof {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  ready bigint;
begin
  return query
  update {{.schema}}._private_jobs as j
     set run_at     = case when j.attempts < j.max_attempts then least(j.run_at, now()) else now() end,
         attempts   = case when j.attempts < j.max_attempts then j.attempts else 0 end,
         updated_at = now()
    from (select l.id
            from {{.schema}}._private_jobs as l
           where l.id = any (job_ids)
             and l.locked_at is null
             and l.attempts <= l.max_attempts
           order by l.id
             for update) as free
   where j.id = free.id
  returning j.*;
  get diagnostics ready = row_count;
  if ready > 0 then
    perform {{.schema}}._gw_wake(ready);
  end if;
end;
$$;

comment on function {{.schema}}.retry_jobs(bigint[]) is
  'Makes these jobs run now and returns them; failed ones get all their attempts again. Running jobs are left alone, and so are failed ones that were replaced or removed while they ran.';
