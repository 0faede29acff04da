-- Frees those of these jobs that dead workers hold, or, if dead is null, those whose locks are stale by expiry, and
-- their queues, and returns the number of jobs. The attempts count. Jobs of dead workers get a last_error that names
-- the worker, and wait for their back-off as failed jobs do, unless the setting recovered_jobs is run. The others may
-- run again at once. All jobs of dead workers become suspects, because any of them may have crashed the worker. They
-- are held: their job_queue_id becomes
-- -2, so that only get_job_alone returns them; see _gw_suspects. A crash is counted only for a job that ran alone in
-- its worker. After as many crashes as the setting crashes_allowed the job fails permanently. If a suspect ran beside
-- other jobs, their attempts do not count: the suspect may have caused the crash, and its next run, which is strict,
-- shows whether it did. Suspects run one by one, so there are at most 10 000; beyond that, jobs run as usual. A suspect
-- stays one until it has ended. A job that was replaced or removed while it ran stays failed. If a Node worker has
-- unlocked it, it gets attempts = max_attempts. Of the jobs that a claim holds in a named queue, only the first can
-- have started, so the others are not suspects and get their attempts back. last_error keeps them from being claimed
-- together again: the outcomes of jobs before the one that crashed the worker may not have been written.
-- Locks: job rows by id, skipping locked ones; then what _gw_put_back locks. The caller holds the rows of dead workers.
create or replace function {{.schema}}._gw_recover_jobs(job_ids bigint[], dead text[], expiry interval)
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  dead_after      constant interval := {{.schema}}.setting('dead_after')::interval;
  crashes_allowed constant integer  := {{.schema}}.setting('crashes_allowed')::integer;
  waits           constant boolean  := dead is not null and {{.schema}}.setting('recovered_jobs') = 'wait';
  unstarted       constant bigint[] := {{.schema}}._gw_unstarted_jobs(job_ids);
  freed           bigint            := 0;
  worker          record;
begin
  update {{.schema}}._private_jobs as j
     set attempts = j.max_attempts
   where j.id = any (array(select r.id
                             from {{.schema}}._private_jobs as r
                            where r.id = any (job_ids) and r.locked_at is null and r.attempts > r.max_attempts
                            order by r.id
                              for update skip locked));
  for worker in
    with held as materialized (
      select j.id, j.job_queue_id, j.run_at, j.attempts, j.max_attempts, j.locked_by, w.host, w.pid, w.last_seen_at
        from {{.schema}}._private_jobs as j
        left join {{.schema}}._gw_workers as w on w.id = j.locked_by
       where j.id = any (job_ids)
         and case when dead is null then {{.schema}}._gw_is_stale(j.locked_at, w.id, w.last_seen_at, expiry, dead_after)
                  else j.locked_by = any (dead) end
       order by j.id
         for update of j skip locked
    ), tried as materialized (
      select h.*, c.crashes, c.crashes >= crashes_allowed as is_culprit, s.job_id is not null as suspected,
             h.id = any (unstarted) as is_unstarted, h.id = any (unstarted)
             -- beside a suspect; an earlier call of this pass may have freed it already, and it is strict then
             or exists (select
                          from {{.schema}}._gw_suspects as b
                          join {{.schema}}._private_jobs as r on r.id = b.job_id
                         where b.worker_id = h.locked_by and not b.is_alone and (r.locked_by = b.worker_id or b.strict)) as is_excused
        from held as h
        left join {{.schema}}._gw_suspects as s on s.job_id = h.id and s.worker_id = h.locked_by
       cross join lateral (select coalesce(s.crashes, 0) + case when s.is_alone then 1 else 0 end as crashes) as c
       where coalesce(h.job_queue_id, 0) <= 0
          or (select true from {{.schema}}._private_job_queues as q where q.id = h.job_queue_id for no key update skip locked)
    ), suspects as (
      insert into {{.schema}}._gw_suspects as s (job_id, queue_name, crashes, strict)
      select t.id, {{.schema}}._gw_queue_name(t.job_queue_id, t.id), t.crashes, t.suspected
        from tried as t
       where (t.suspected or dead is not null)
         and not t.is_unstarted and not t.is_culprit and t.attempts - t.is_excused::integer < t.max_attempts
       order by t.suspected desc, t.id
       limit greatest(0, 10000 - (select count(*) from {{.schema}}._gw_suspects))
             + (select count(*) from tried as t where t.suspected)
          on conflict on constraint _gw_suspects_pkey do update
         set queue_name = excluded.queue_name, crashes = excluded.crashes, strict = excluded.strict, room_at = null
      returning s.job_id
    )
    select t.locked_by as id, array_agg(s.job_id) as suspects, array_agg(row(
             t.id, null,
             case when dead is not null
                    then case when t.is_culprit
                              then format('Probably crashed its workers: %s died while they ran it alone. ', t.crashes) else '' end
                         || format('Worker %s (host %s, pid %s) died; it was last seen at %s UTC.',
                                   t.locked_by, coalesce(t.host, 'unknown'), coalesce(t.pid::text, 'unknown'),
                                   to_char(t.last_seen_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'))
                  when t.attempts = t.max_attempts and not t.is_unstarted
                    then format('Worker %s reported no outcome of the last attempt.', coalesce(t.locked_by, 'unknown')) end,
             case when t.is_unstarted then t.run_at
                  when waits then {{.schema}}._gw_retry_at(t.run_at, t.attempts)
                  else greatest(now(), t.run_at) end,
             null, t.is_excused and not t.is_culprit, t.is_culprit)::{{.schema}}._gw_outcome) as outcomes
      from tried as t
      left join suspects as s on s.job_id = t.id
     group by t.locked_by
     order by t.locked_by
  loop
    freed := freed + (select count(*) from {{.schema}}._gw_put_back(worker.id, 'recovered', worker.outcomes));
    update {{.schema}}._private_jobs as j set job_queue_id = -2 where j.id = any (worker.suspects) and j.is_available;
  end loop;
  return freed;
end;
$$;

comment on function {{.schema}}._gw_recover_jobs(bigint[], text[], interval) is 'Internal: frees those of these jobs that dead workers hold, or, if dead is null, those whose locks are stale by expiry, and their queues, and returns the number of jobs.';
