-- Locks jobs of named queues that the caller has locked, for the places of the batch that others have left, and gives
-- the queues to the worker. Returns the ctids of all jobs of the batch; of these as many as max_bytes allows.
-- The queues were locked by an earlier statement, so this one sees what the last holder of each queue committed. If a
-- transaction changes or has just changed a job (xmin; not all versions check the ctid again), the claim takes neither
-- this job nor the ones after it in the queue: the next job must not overtake it, and the job may now be due later or
-- be in another queue. A job that is only taken as the first one ends them in the same way. The first jobs of the
-- queues come before the others.
-- Locks: the jobs, without waiting.
create or replace function {{.schema}}._gw_lock_queued_jobs(
  claim {{.schema}}._gw_claim, queue_ids integer[], others tid[])
  returns tid[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  places tid[];
begin
  with chosen as materialized (
    select c.job_queue_id, c.place, c.version, c.number, c.follows
      from (select q.id as job_queue_id, q.number as queue, n.place, n.version, n.key is null and n.last_error is null as follows,
                   row_number() over (partition by q.number order by n.priority, n.run_at, n.id) as number
              from unnest(queue_ids) with ordinality as q (id, number)
             cross join lateral {{.schema}}._gw_first_in_queue(q.id, claim,
                    case when cardinality(queue_ids) + cardinality(others) < claim.batch_size then claim.queue_batch else 1 end) as n) as c
     order by c.number > 1, c.queue, c.number
     limit claim.batch_size - cardinality(others)
  ), locked as (
    select c.job_queue_id, c.number,
           (select j.ctid
              from {{.schema}}._private_jobs as j
             where j.ctid = c.place and j.xmin = c.version and (c.number = 1 or c.follows)
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
