-- Returns those of these jobs that have ended, and how: 'gone' if a job has completed, was removed, or never existed;
-- 'failed' if it has failed permanently. A failed job that has attempts left has not ended.
create or replace function {{.schema}}.job_ends(job_ids bigint[])
  returns table (id bigint, state text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off
as $$
begin
  return query
  select w.id, case when j.id is null then 'gone' else 'failed' end
    from (select distinct u.id from unnest(job_ids) as u (id) where u.id is not null) as w
    left join {{.schema}}._private_jobs as j on j.id = w.id
   where j.id is null or j.locked_at is null and j.attempts >= j.max_attempts
   order by w.id;
end;
$$;

comment on function {{.schema}}.job_ends(bigint[]) is
  'Returns those of these jobs that have ended, and how: gone (completed, removed, or never added) or failed (permanently). A job that waits or runs is missing.';
