-- Returns the suspects that a worker may take, in the order of jobs. While a strict suspect runs alone, no other strict
-- suspect is returned. So at most one worker of the fleet is reserved for longer than a heartbeat interval.
create or replace function {{.schema}}._gw_waiting_suspects(
  task_ids        integer[],
  forbidden_flags text[],
  due             timestamptz,
  flagged_tasks   integer[],
  task_flags      text[]
)
  returns table (id bigint, revision integer, job_queue_id integer, priority smallint, run_at timestamptz, strict boolean, room_at timestamptz)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
  select j.id, j.revision, j.job_queue_id, j.priority, j.run_at, s.strict, s.room_at
    from {{.schema}}._gw_suspects as s
   cross join lateral (
          select j.id, j.revision, j.job_queue_id, j.priority, j.run_at
            from {{.schema}}._private_jobs as j
           where j.id = s.job_id and j.revision = s.revision and j.is_available
             and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
          offset 0 -- prevents a join that could read all jobs
        ) as j
   where (not s.strict
          or not exists (select
                           from {{.schema}}._gw_suspects as o
                          cross join lateral (
                                select from {{.schema}}._private_jobs as r
                                 where r.id = o.job_id and r.locked_by = o.worker_id
                                offset 0) as r
                          where o.strict and o.is_alone))
   order by j.priority, j.run_at, j.id
$$;

comment on function {{.schema}}._gw_waiting_suspects(integer[], text[], timestamptz, integer[], text[]) is
  'Internal, for get_job_alone and make_room: returns the suspects that a worker may take.';
