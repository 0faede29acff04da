-- A suspect is a job that a worker held when that worker died. While it waits, its job_queue_id is -2: that of no
-- queue, so that no ordinary claim and no Node worker finds it. Its row in _gw_suspects has the name of its queue. See
-- get_job_alone.

-- Returns the named queue of a job by its job_queue_id, of a held job, too; null: it has none. Cleaning up may have
-- deleted the row of a held job's queue, so a name is kept. security definer, because the tables' readers may not see
-- those of suspects.
create or replace function {{.schema}}._gw_queue_name(job_queue_id integer, job_id bigint)
  returns text language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
  set jit = off
as $$
begin
  return case when job_queue_id > 0 then (select q.queue_name from {{.schema}}._private_job_queues as q where q.id = job_queue_id)
              when job_queue_id = -2 then (select s.queue_name from {{.schema}}._gw_suspects as s where s.job_id = _gw_queue_name.job_id) end;
end;
$$;

-- Returns the job_queue_id of a job for somebody who makes it available to all workers again, or ends it: of a suspect
-- that waits, its named queue, -1 if limits apply to its task, or null; of other jobs -1 in place of a lane, or what it
-- is. Its row in _gw_suspects no longer counts after that. The function may be called more than once for a row, as
-- updates do.
-- Locks: the name of the queue; if it has no row, its new row.
create or replace function {{.schema}}._gw_unheld(job_queue_id integer, job_id bigint)
  returns integer language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
  set jit = off
as $$
declare
  queue constant text := {{.schema}}._gw_queue_name(job_queue_id, job_id);
begin
  if job_queue_id <> -2 or job_queue_id is null then
    return case when job_queue_id < 0 then -1 else job_queue_id end;
  elsif queue is null then
    return (select -1
              from {{.schema}}._private_jobs as j
              join {{.schema}}._private_tasks as t on t.id = j.task_id
             where j.id = _gw_unheld.job_id
               and t.identifier = any ({{.schema}}._gw_incoming(array[t.identifier])));
  end if;
  perform {{.schema}}._gw_hold_names(null, array[queue]);
  perform {{.schema}}._gw_make_names(null, array[queue]);
  return (select q.id from {{.schema}}._private_job_queues as q where q.queue_name = queue);
end;
$$;

-- Holds the suspects among these jobs again, for those who have freed jobs of these workers without ending them, and
-- not their queues
-- yet: a suspect stays one until it has ended. Locks: their rows, after the jobs. The function is security definer,
-- because force_unlock_workers runs with the rights of its caller.
create or replace function {{.schema}}._gw_suspect_again(worker_ids text[], job_ids bigint[])
  returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
  set jit = off
as $$
begin
  with freed as (
    update {{.schema}}._gw_suspects as s
       set worker_id = null
     where s.job_id = any (job_ids) and s.worker_id = any (worker_ids)
    returning s.job_id
  )
  update {{.schema}}._private_jobs as j
     set job_queue_id = -2
   where j.id = any (array(select f.job_id from freed as f)) and j.is_available;
end;
$$;

-- Deletes the rows of canceled jobs that no longer run, and those of suspects that have ended or failed for good, or
-- that somebody has made available to all workers; those that have failed get their queues back.
-- Locks: these rows, then the jobs that have failed, by id; skips locked ones.
create or replace function {{.schema}}._gw_drop_ended()
  returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  spent bigint[] := array(
    select s.job_id
      from {{.schema}}._gw_suspects as s
     where not exists (select
                         from {{.schema}}._private_jobs as j
                        where j.id = s.job_id and (j.job_queue_id = -2 and j.is_available or j.locked_by = s.worker_id))
       for update of s skip locked);
begin
  update {{.schema}}._private_jobs as j
     set job_queue_id = {{.schema}}._gw_unheld(j.job_queue_id, j.id)
   where j.id = any (array(
           select l.id
             from {{.schema}}._private_jobs as l
            where l.id = any (spent) and l.job_queue_id = -2 and not l.is_available and l.locked_at is null
            order by l.id
              for update skip locked));
  delete from {{.schema}}._gw_cancels as c
   where c.job_id in (
           select l.job_id
             from {{.schema}}._gw_cancels as l
            where not exists (select from {{.schema}}._private_jobs as j
                               where j.id = l.job_id and j.locked_by = l.worker_id and j.attempts > j.max_attempts)
              for update of l skip locked);
  -- A job that has become a suspect again since the first statement is held.
  delete from {{.schema}}._gw_suspects as s
   where s.job_id = any (spent) and not exists (select from {{.schema}}._private_jobs as j where j.id = s.job_id and j.job_queue_id = -2);
end;
$$;

-- Returns whether a worker runs a suspect and may claim no other job. After one heartbeat interval it may, unless the
-- suspect is strict; the suspect then counts as running beside others.
-- Locks: the row of a suspect that no longer runs alone.
create or replace function {{.schema}}._gw_runs_alone(worker_id text)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  -- Not joins, which could read all jobs.
  update {{.schema}}._gw_suspects as s
     set is_alone = false
   where s.worker_id = _gw_runs_alone.worker_id and s.is_alone and not s.strict
     and (select j.locked_at from {{.schema}}._private_jobs as j where j.id = s.job_id and j.locked_by = s.worker_id)
         <= clock_timestamp() - {{.schema}}._gw_beat_every();
  return exists (
    select from {{.schema}}._gw_suspects as s
     where s.worker_id = _gw_runs_alone.worker_id and s.is_alone
       and (select true from {{.schema}}._private_jobs as j where j.id = s.job_id and j.locked_by = s.worker_id));
end;
$$;
