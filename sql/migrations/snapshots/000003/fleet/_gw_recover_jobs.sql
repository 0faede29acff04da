-- Frees jobs of dead workers and their queues, and returns the number of jobs. The attempts count, last_error names the
-- dead worker, and the jobs wait for their back-off as failed jobs do, unless the setting recovered_jobs is run.
-- All these jobs become suspects, because any of them may have crashed the worker. They are held: their job_queue_id becomes -2, so
-- that only get_job_alone returns them; see _gw_suspects. A crash is counted only for a job that ran alone in its worker. After as many crashes as the setting
-- crashes_allowed the job fails permanently. If a suspect ran beside other jobs, their attempts do not count: the
-- suspect may have caused the crash, and its next run, which is strict, shows whether it did. Suspects run one by one, so there are
-- at most 10 000; beyond that, jobs run as usual.
-- A job that was replaced or removed while it ran stays failed.
-- Of the jobs that a claim holds in a named queue, only the first can have started, so the others are not suspects and get their
-- attempts back. last_error keeps them from being claimed together again: the outcomes of jobs before the one that crashed the
-- worker may not have been written.
-- Locks: job rows by id, skipping locked ones; then their queue rows by id. The caller holds the workers' rows.
create or replace function {{.schema}}._gw_recover_jobs(dead text[], job_ids bigint[])
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  crashes_allowed integer := {{.schema}}.setting('crashes_allowed')::integer;
  waits           boolean := {{.schema}}.setting('recovered_jobs') = 'wait';
  unstarted       bigint[] := {{.schema}}._gw_unstarted_jobs(job_ids);
  freed           bigint := 0;
  ready           bigint := 0;
  worker          record;
begin
  if {{.schema}}._gw_keeps() then
    job_ids := {{.schema}}._gw_note_attempts('recovered', dead, job_ids, details => array['The worker died.'], skip_locked => true);
  end if;
  for worker in
    with held as materialized (
      select j.id, j.job_queue_id, j.attempts, j.max_attempts, j.locked_by, j.locked_at
        from {{.schema}}._private_jobs as j
       where j.id = any (job_ids) and j.locked_by = any (dead)
       order by j.id
         for update skip locked
    ), judged as (
      select h.*,
             format('Worker %s (host %s, pid %s) died; it was last seen at %s UTC.',
                    w.id, coalesce(w.host, 'unknown'), coalesce(w.pid::text, 'unknown'),
                    to_char(w.last_seen_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')) as obituary,
             h.id = any (unstarted) as is_unstarted,
             s.job_id is not null as suspected,
             coalesce(s.crashes, 0) + case when s.is_alone then 1 else 0 end as crashes,
             -- An earlier call of this pass may have freed the suspect already; it is strict then.
             exists (select
                       from {{.schema}}._gw_suspects as b
                       join {{.schema}}._private_jobs as r on r.id = b.job_id
                      where b.worker_id = h.locked_by and not b.is_alone and (r.locked_by = b.worker_id or b.strict)) as is_excused
        from held as h
        join {{.schema}}._gw_workers as w on w.id = h.locked_by
        left join {{.schema}}._gw_suspects as s on s.job_id = h.id and s.worker_id = h.locked_by
    ), tried as (
      select g.*, case when g.crashes >= crashes_allowed then g.max_attempts
                       when g.is_excused or g.is_unstarted then greatest(0, g.attempts - 1) -- a retired one stays failed
                       else least(g.attempts, g.max_attempts) end as attempts_now
        from judged as g
    ), suspects as (
      insert into {{.schema}}._gw_suspects as s (job_id, queue_name, crashes, strict)
      select t.id, {{.schema}}._gw_queue_name(t.job_queue_id, t.id), t.crashes, t.suspected
        from tried as t
       where t.attempts_now < t.max_attempts and not t.is_unstarted
       order by t.suspected desc, t.id
       limit greatest(0, 10000 - (select count(*) from {{.schema}}._gw_suspects))
             + (select count(*) from tried as t where t.suspected)
          on conflict on constraint _gw_suspects_pkey do update
         set queue_name = excluded.queue_name, crashes = excluded.crashes, strict = excluded.strict, room_at = null
      returning s.job_id
    ), freed as (
      update {{.schema}}._private_jobs as j
         set job_queue_id = case when s.job_id is not null then -2 when j.job_queue_id < 0 then -1 else j.job_queue_id end,
             last_error   = case when t.crashes >= crashes_allowed
                                 then format('Probably crashed its workers: %s died while they ran it alone. ', t.crashes)
                                 else '' end || t.obituary,
             run_at       = case when t.is_unstarted then j.run_at
                                 when waits then {{.schema}}._gw_retry_at(j.run_at, j.attempts) else greatest(now(), j.run_at) end,
             attempts     = t.attempts_now,
             locked_at    = null,
             locked_by    = null
        from tried as t
        left join suspects as s on s.job_id = t.id
       where j.id = t.id
      returning t.locked_by as worker_id, row(t.id, t.job_queue_id, t.locked_at)::{{.schema}}._gw_ended_job as ended,
                j.is_available and j.run_at <= now() as is_ready
    )
    select f.worker_id as id, count(*) as jobs, count(*) filter (where f.is_ready) as ready,
           array_agg(f.ended) filter (where (f.ended).queue_id is not null) as ended
      from freed as f
     group by f.worker_id
     order by f.worker_id
  loop
    freed := freed + worker.jobs;
    ready := ready + worker.ready;
    perform {{.schema}}._gw_release(worker.id, worker.ended, 'recovered') where worker.ended is not null;
  end loop;
  if freed > 0 then
    perform {{.schema}}._gw_wake(ready);
  end if;
  return freed;
end;
$$;

comment on function {{.schema}}._gw_recover_jobs(text[], bigint[]) is
  'Internal, for heartbeat(): frees the jobs of dead workers.';
