-- Frees jobs of dead workers and their queues, and returns the number of jobs. The attempts count, last_error names the
-- dead worker, and the jobs wait for their back-off as failed jobs do, unless the setting recovered_jobs is run.
-- All these jobs become suspects, because any of them may have crashed the worker. Claims skip suspects; get_job_alone
-- returns them. A crash is counted only for a job that ran alone in its worker. After as many crashes as the setting
-- crashes_allowed the job fails permanently. If a suspect ran beside other jobs, their attempts do not count: the
-- suspect may have caused the crash, and its next run, which is strict, shows whether it did. Suspects make all claims
-- slower, so there are at most 10 000; beyond that, jobs run as usual.
-- A job that was replaced or removed while it ran stays failed.
-- Of the jobs that a claim holds in a named queue, only the first can have started, so the others are not suspects and get their
-- attempts back. last_error keeps them from being claimed together again: the outcomes of jobs before the one that crashed the
-- worker may not have been written.
-- Locks: job rows by id, skipping locked ones; then their queue rows by id. The caller holds the workers' rows.
create or replace function {{.schema}}._gw_recover_jobs(
  dead    text[],
  job_ids bigint[]
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  crashes_allowed integer := {{.schema}}.setting('crashes_allowed')::integer;
  waits           boolean := {{.schema}}.setting('recovered_jobs') = 'wait';
  unstarted       bigint[] := {{.schema}}._gw_unstarted_jobs(job_ids);
  queue_ids       integer[];
  limited         bigint[];
  freed           bigint;
  ready           bigint;
begin
  if {{.schema}}._gw_keeps() then
    job_ids := {{.schema}}._gw_note_attempts('recovered', dead, job_ids, details => array['The worker died.'], skip_locked => true);
  end if;
  with held as materialized (
    select j.id, j.revision, j.locked_by
      from {{.schema}}._private_jobs as j
     where j.id = any (job_ids) and j.locked_by = any (dead)
     order by j.id
       for update skip locked
  ), judged as (
    select h.id,
           format('Worker %s (host %s, pid %s) died; it was last seen at %s UTC.',
                  w.id, coalesce(w.host, 'unknown'), coalesce(w.pid::text, 'unknown'),
                  to_char(w.last_seen_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')) as obituary,
           u.id is not null as is_unstarted,
           s.job_id is not null as suspected,
           coalesce(s.crashes, 0) + case when s.worker_id = h.locked_by and s.is_alone then 1 else 0 end as crashes,
           -- An earlier call of this pass may have freed the suspect already; it is strict then.
           exists (select
                     from {{.schema}}._gw_suspects as b
                     join {{.schema}}._private_jobs as r on r.id = b.job_id and r.revision = b.revision
                    where b.worker_id = h.locked_by and not b.is_alone and (r.locked_by = b.worker_id or b.strict)) as is_excused
      from held as h
      join {{.schema}}._gw_workers as w on w.id = h.locked_by
      left join unnest(unstarted) as u (id) on u.id = h.id
      left join {{.schema}}._gw_suspects as s on s.job_id = h.id and s.revision = h.revision
  ), freed as (
    update {{.schema}}._private_jobs as j
       set last_error = case when g.crashes >= crashes_allowed
                             then format('Probably crashed its workers: %s died while they ran it alone. ', g.crashes)
                             else '' end || g.obituary,
           run_at     = case when g.is_unstarted then j.run_at
                             when waits then {{.schema}}._gw_retry_at(j.run_at, j.attempts) else greatest(now(), j.run_at) end,
           attempts   = case when g.crashes >= crashes_allowed then j.max_attempts
                             when g.is_excused or g.is_unstarted then greatest(0, j.attempts - 1) -- a retired one stays failed
                             else least(j.attempts, j.max_attempts) end,
           locked_at  = null,
           locked_by  = null
      from judged as g
     where j.id = g.id
    returning j.id, j.revision, j.job_queue_id, g.suspected, g.crashes, g.is_unstarted, j.is_available,
              j.is_available and j.run_at <= now() as is_ready
  ), suspected as (
    insert into {{.schema}}._gw_suspects as s (job_id, revision, crashes, strict)
    select f.id, f.revision, f.crashes, f.suspected
      from freed as f
     where f.is_available and not f.is_unstarted
     order by f.suspected desc, f.id
     limit greatest(0, 10000 - (select count(*) from {{.schema}}._gw_suspects))
           + (select count(*) from freed as f where f.suspected)
        on conflict on constraint _gw_suspects_pkey do update
       set revision = excluded.revision, crashes = excluded.crashes, strict = excluded.strict, room_at = null
  )
  select count(*), count(*) filter (where f.is_ready), array_agg(f.job_queue_id) filter (where f.job_queue_id > 0),
         array_agg(f.id) filter (where f.job_queue_id < 0)
    into freed, ready, queue_ids, limited
    from freed as f;

  if queue_ids is not null then
    perform from {{.schema}}._private_job_queues as q
      where q.id = any (queue_ids) and q.locked_by = any (dead)
      order by q.id for no key update;
    update {{.schema}}._private_job_queues as q
       set locked_at = null, locked_by = null
     where q.id = any (queue_ids) and q.locked_by = any (dead);
  end if;
  if limited is not null then
    perform {{.schema}}._gw_keep_slots(limited);
    perform {{.schema}}._gw_leave_lanes(limited);
  end if;
  if freed > 0 then
    perform {{.schema}}._gw_wake(ready);
  end if;
  return freed;
end;
$$;

comment on function {{.schema}}._gw_recover_jobs(text[], bigint[]) is
  'Internal, for heartbeat(): frees the jobs of dead workers.';
