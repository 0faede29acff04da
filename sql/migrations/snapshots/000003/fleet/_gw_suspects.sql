-- A suspect is a job that a worker held when that worker died. Ordinary claims skip suspects; see get_job_alone.

-- Deletes suspects whose job has ended, has failed permanently or was replaced. While there are any suspects, claims
-- are slower.
create or replace function {{.schema}}._gw_drop_spent_suspects()
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
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
  'Internal: deletes suspects whose jobs have ended, have failed permanently or were replaced.';

-- Returns whether a suspect is waiting for a worker with these tasks. Forbidden flags are not checked here; the claim
-- checks them.
create or replace function {{.schema}}._gw_alone_waits(
  tasks text[]
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
  select exists (select
                   from {{.schema}}._gw_suspects as s
                  cross join lateral (
                         select j.job_queue_id
                           from {{.schema}}._private_jobs as j
                           join {{.schema}}._private_tasks as t on t.id = j.task_id
                          where j.id = s.job_id and j.revision = s.revision and j.is_available and j.run_at <= now()
                            and (t.identifier = any (tasks) or tasks = '{}')
                         offset 0 -- prevents a join that could read all jobs
                       ) as j
                  where (j.job_queue_id > 0) is not true
                     or (select q.locked_at is null from {{.schema}}._private_job_queues as q where q.id = j.job_queue_id))
$$;

comment on function {{.schema}}._gw_alone_waits(text[]) is
  'Internal, for heartbeat(): returns whether a suspect is waiting for a worker with these tasks.';

-- Returns whether a worker runs a suspect and may claim no other job. After one heartbeat interval it may, unless the
-- suspect is strict; the suspect then counts as running beside others.
-- Locks: the row of a suspect that no longer runs alone.
create or replace function {{.schema}}._gw_runs_alone(
  worker_id text
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
declare
  found_one record;
begin
  select s.job_id, s.strict or j.locked_at > clock_timestamp() - {{.schema}}._gw_beat_every() as is_bound
    into found_one
    from {{.schema}}._gw_suspects as s
   cross join lateral (
          select j.locked_at
            from {{.schema}}._private_jobs as j
           where j.id = s.job_id and j.locked_by = _gw_runs_alone.worker_id
          offset 0
        ) as j
   where s.worker_id = _gw_runs_alone.worker_id and s.is_alone
   order by is_bound desc
   limit 1;
  if not found then
    return false;
  elsif not found_one.is_bound then
    update {{.schema}}._gw_suspects as s set is_alone = false where s.job_id = found_one.job_id;
  end if;
  return found_one.is_bound;
end;
$$;

comment on function {{.schema}}._gw_runs_alone(text) is
  'Internal: returns whether a worker runs a suspect and may claim no other job.';
