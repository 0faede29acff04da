-- Suspects are jobs that were with a worker when it died. Ordinary claims leave them alone; see get_job_alone.

-- Drops those that are not suspected any more: the job is gone, has failed for good, or was replaced. As long as there are
-- any, claims take longer.
create or replace function {{.schema}}._gw_drop_spent_suspects()
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
  delete from {{.schema}}._gw_suspects as s
   where s.job_id in (
           select l.job_id
             from {{.schema}}._gw_suspects as l
            where not exists (select from {{.schema}}._private_jobs as j
                               where j.id = l.job_id and j.revision = l.revision
                                 and (j.locked_at is not null or j.attempts < j.max_attempts))
              for update of l skip locked)
$$;

comment on function {{.schema}}._gw_drop_spent_suspects() is
  'Internal: drops suspects whose jobs are gone, have failed for good or were replaced.';

-- Whether a suspect waits that this worker could run, and whether the worker is the one to make room for it. Of the
-- workers that live and run its task, that is the one with the least id, so that the others go on; one that is idle
-- may take the job before.
create or replace function {{.schema}}._gw_alone_waits(
  worker_id  text,
  tasks      text[],
  dead_after interval,
  out waits     boolean,
  out make_room boolean
)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  with waiting as (
    select distinct t.identifier as task
      from {{.schema}}._gw_suspects as s
      join {{.schema}}._private_jobs as j on j.id = s.job_id and j.revision = s.revision
      join {{.schema}}._private_tasks as t on t.id = j.task_id
     where j.is_available and j.run_at <= now()
       and (j.job_queue_id is null
            or (select q.locked_at is null from {{.schema}}._private_job_queues as q where q.id = j.job_queue_id))
       and (t.identifier = any (tasks) or tasks = '{}')
  )
  select count(*) > 0,
         coalesce(bool_or(worker_id = (
           select min(w.id)
             from {{.schema}}._gw_workers as w
            where w.last_seen_at > clock_timestamp() - dead_after / 2
              and (n.task = any (w.tasks) or w.tasks = '{}'))), false)
    into waits, make_room
    from waiting as n;
end;
$$;

comment on function {{.schema}}._gw_alone_waits(text, text[], interval) is
  'Internal, for heartbeat(): whether a suspect waits for this worker, and whether the worker should make room for it.';

-- Whether a worker runs a suspect now.
create or replace function {{.schema}}._gw_runs_alone(
  worker_id text
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
  select exists (select
                   from {{.schema}}._gw_suspects as s
                   join {{.schema}}._private_jobs as j on j.id = s.job_id
                  where s.worker_id = _gw_runs_alone.worker_id and j.locked_by = _gw_runs_alone.worker_id)
$$;

comment on function {{.schema}}._gw_runs_alone(text) is
  'Internal: whether a worker runs a suspect, and may claim nothing beside it.';
