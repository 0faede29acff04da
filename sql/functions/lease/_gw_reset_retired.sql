-- For reset_stale_locks: gives retired jobs (see _gw_retire) that are not locked attempts = max_attempts, which Graphile Worker's
-- clean-up looks for.
-- Locks: job rows by id; skips locked ones.
create or replace function {{.schema}}._gw_reset_retired(job_ids bigint[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  if job_ids is null then
    return;
  end if;
  update {{.schema}}._private_jobs as j
     set attempts = j.max_attempts
    from (select l.id
            from {{.schema}}._private_jobs as l
           where l.id = any (job_ids) and l.locked_at is null and l.attempts > l.max_attempts
           order by l.id
             for update skip locked) as free
   where j.id = free.id;
exception when others then
  if sqlstate in ('40001', '40P01', '55P03') then
    raise;
  end if;
  raise warning 'Jobs that must not run again keep an attempt more than their maximum: %', sqlerrm;
end;
$$;

comment on function {{.schema}}._gw_reset_retired(bigint[]) is
  'Internal, for reset_stale_locks(): gives retired jobs that are not locked no more attempts than their maximum.';
