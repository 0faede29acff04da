-- Returns the suspects that a worker may take, in the order of jobs: not those whose queue is busy. While a strict
-- suspect runs alone, no other strict suspect is returned. So at most one worker of the fleet is reserved for longer
-- than a heartbeat interval.
create or replace function {{.schema}}._gw_waiting_suspects(claim {{.schema}}._gw_claim)
  returns table (id bigint, queue_name text, priority smallint, run_at timestamptz, strict boolean, room_at timestamptz)
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_bitmapscan = off
  set jit = off
as $$
declare
  no_strict boolean := exists (select
                                 from {{.schema}}._gw_suspects as o
                                cross join lateral (
                                      select from {{.schema}}._private_jobs as r
                                       where r.id = o.job_id and r.locked_by = o.worker_id
                                      offset 0) as r -- prevents a join that could read all jobs
                                where o.strict and o.is_alone);
begin
  return query
  select j.id, s.queue_name, j.priority, j.run_at, coalesce(s.strict, false), s.room_at
    from {{.schema}}._private_jobs as j
    left join lateral (
           select l.queue_name, l.strict, l.room_at from {{.schema}}._gw_suspects as l where l.job_id = j.id offset 0) as s on true
   where j.is_available and j.job_queue_id = -2
     and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim) and (s.strict is not true or not no_strict)
     and not exists (select
                       from {{.schema}}._private_job_queues as q
                      where q.queue_name = s.queue_name and q.locked_at is not null)
   order by j.priority, j.run_at, j.id;
end;
$$;

comment on function {{.schema}}._gw_waiting_suspects({{.schema}}._gw_claim) is 'Internal: returns the suspects that a worker may take, in the order of jobs: not those whose queue is busy.';
