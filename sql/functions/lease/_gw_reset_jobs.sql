-- Frees those of these jobs whose locks are stale, and returns their number. The attempts of jobs that have not started do not
-- count.
-- Locks: job rows by id; skips locked ones.
create or replace function {{.schema}}._gw_reset_jobs(job_ids bigint[], expiry interval)
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  dead_after interval := {{.schema}}.setting('dead_after')::interval;
  unstarted  bigint[] := {{.schema}}._gw_unstarted_jobs(job_ids);
  ended      {{.schema}}._gw_ended_job[];
  owners     text[];
  freed      bigint;
begin
  if {{.schema}}._gw_keeps() then
    job_ids := array(
      select j.id
        from {{.schema}}._private_jobs as j
        left join {{.schema}}._gw_workers as w on w.id = j.locked_by
       where j.id = any (job_ids)
         and {{.schema}}._gw_is_stale(j.locked_at, w.id, w.last_seen_at, expiry, dead_after)
       order by j.id
         for update of j skip locked);
    perform {{.schema}}._gw_note_attempts(
      'recovered', array(select distinct j.locked_by from {{.schema}}._private_jobs as j where j.id = any (job_ids)), job_ids,
      details => array['The worker reported no outcome.']);
  end if;
  with stale as (
    select j.id, j.job_queue_id, j.locked_at, j.locked_by
      from {{.schema}}._private_jobs as j
      left join {{.schema}}._gw_workers as w on w.id = j.locked_by
     where j.id = any (job_ids)
       and {{.schema}}._gw_is_stale(j.locked_at, w.id, w.last_seen_at, expiry, dead_after)
     order by j.id
       for update of j skip locked
  ), freed as (
    update {{.schema}}._private_jobs as j
       set last_error   = case when j.attempts = j.max_attempts and u.id is null
                               then 'Worker ' || coalesce(j.locked_by, 'unknown') || ' reported no outcome of the last attempt.'
                               else j.last_error end,
           attempts     = case when u.id is not null then greatest(0, j.attempts - 1) else least(j.attempts, j.max_attempts) end,
           run_at       = case when u.id is not null then j.run_at else greatest(j.run_at, now()) end,
           job_queue_id = case when j.job_queue_id < 0 then -1 else j.job_queue_id end,
           locked_at    = null,
           locked_by    = null
      from stale
      left join unnest(unstarted) as u (id) on u.id = stale.id
     where j.id = stale.id
    returning j.id, stale.job_queue_id, stale.locked_at, stale.locked_by
  )
  select count(*), array_agg(row(f.id, f.job_queue_id, f.locked_at)::{{.schema}}._gw_ended_job), array_agg(distinct f.locked_by)
    into freed, ended, owners
    from freed as f;
  perform {{.schema}}._gw_release_gates(ended, 'recovered'); -- their queues have stale locks, too
  perform {{.schema}}._gw_suspect_again(owners, job_ids);
  return freed;
end;
$$;

comment on function {{.schema}}._gw_reset_jobs(bigint[], interval) is
  'Internal, for reset_stale_locks(): frees those of these jobs whose locks are stale.';
