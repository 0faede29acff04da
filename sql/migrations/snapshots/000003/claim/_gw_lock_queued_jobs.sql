-- Locks jobs of named queues that the caller has locked, for the places of the batch that others have left, and gives the queues to
-- the worker. Returns the ctids of all jobs of the batch; of these as many as max_bytes allows.
-- The queues were locked by an earlier statement, so this one sees what the last holder of each queue committed. If a transaction
-- changes or has just changed a job (xmin; not all versions check the ctid again), the claim takes neither this job nor the ones
-- after it in the queue: the next job must not overtake it, and the job may now be due later or be in another queue. A job that is only
-- taken as the first one ends them in the same way. The first jobs of the queues come before the others.
-- Locks: the jobs, without waiting.
create or replace function {{.schema}}._gw_lock_queued_jobs(
  claim {{.schema}}._gw_claim, queue_ids integer[], others tid[])
  returns tid[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  places tid[];
begin
  with chosen as materialized (
    select c.job_queue_id, c.ctid, c.xmin, c.number, c.follows
      from (select q.place, n.*, row_number() over (partition by q.place order by n.priority, n.run_at, n.id) as number
              from unnest(queue_ids) with ordinality as q (id, place)
             cross join lateral (
                    select j.job_queue_id, j.ctid, j.xmin, j.priority, j.run_at, j.id, j.key is null and j.last_error is null as follows
                      from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id = q.id
                       and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
                     order by j.priority, j.run_at, j.id
                     limit case when cardinality(queue_ids) + cardinality(others) < claim.batch_size then claim.queue_batch else 1 end) as n) as c
     order by c.number > 1, c.place, c.number
     limit claim.batch_size - cardinality(others)
  ), locked as (
    select c.job_queue_id, c.number,
           (select j.ctid
              from {{.schema}}._private_jobs as j
             where j.ctid = c.ctid and j.xmin = c.xmin and (c.number = 1 or c.follows)
               for update skip locked) as place
      from chosen as c
  ), streaks as materialized (
    select l.job_queue_id, l.place, bool_and(l.place is not null) over (partition by l.job_queue_id order by l.number) as is_whole
      from locked as l
  ), fitting as materialized (
    select case when claim.batch_size = 1 then p.places else {{.schema}}._gw_within_bytes(p.places, claim.max_bytes) end as places
      from (select others || array(select s.place from streaks as s where s.is_whole) as places) as p
  ), taken as (
    update {{.schema}}._private_job_queues as q
       set locked_by = claim.worker_id,
           locked_at = claim.claimed_at - (h.jobs - 1) * interval '1 microsecond' -- see _gw_queue_locked_at
      from (select s.job_queue_id, count(*) as jobs
              from streaks as s
             where s.is_whole
               and (cardinality((select f.places from fitting as f)) = (select count(*) from streaks as w where w.is_whole) + cardinality(others)
                    or s.place = any ((select f.places from fitting as f)::tid[]))
             group by s.job_queue_id) as h
     cross join lateral (select o.ctid from {{.schema}}._private_job_queues as o where o.id = h.job_queue_id offset 0) as o
     where q.ctid = o.ctid
  )
  select f.places into places from fitting as f;
  return places;
end;
$$;

comment on function {{.schema}}._gw_lock_queued_jobs({{.schema}}._gw_claim, integer[], tid[]) is 'Internal: locks jobs of named queues that the caller has locked, for the places of the batch that others have left, and gives the queues to the worker.';
