-- These functions search for the first jobs of named queues that a claim may take, for _gw_front_queues. They only read, and return
-- heads in the order of jobs, without those of queues that somebody works, or whose first job somebody changes. Queues whose row
-- somebody has locked are among them, but do not count: they may be locked by a claim, or for a producer above READ COMMITTED.
-- is_complete: these are all heads before a place, or enough for the batch. jobs_each: how many jobs of a queue count for it.
-- snapshot, lockers: see _gw_may_lock. A scalar subquery checks whether a queue is free, because a join could read all queues.

-- Reads the first jobs in queues: enough, unless they are of busy queues or of other tasks.
create or replace function {{.schema}}._gw_walk_queues(
  claim {{.schema}}._gw_claim, before {{.schema}}._gw_place, jobs_each integer, snapshot txid_snapshot, lockers xid[],
  out heads {{.schema}}._gw_place[], out is_complete boolean)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  with walked as materialized (
    select j.job_queue_id, j.priority, j.run_at, j.id, {{.schema}}._gw_may_lock(j.xmax, snapshot, lockers) as is_free,
           {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim) as suits
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id > 0 and (j.priority, j.run_at, j.id) < (before.priority, before.run_at, before.id)
     order by j.priority, j.run_at, j.id
     limit claim.batch_size + 15
  ), free as materialized (
    select w.job_queue_id, w.priority, w.run_at, w.id, w.is_free, w.counts
      from (select w.job_queue_id, w.priority, w.run_at, w.id, w.is_free,
                   (select case when q.locked_at is null then {{.schema}}._gw_may_lock(q.xmax, snapshot, lockers) end
                      from {{.schema}}._private_job_queues as q
                     where q.id = w.job_queue_id) as counts
              from walked as w
             where w.suits
            offset 0) as w
     where w.counts is not null
     limit claim.batch_size + 3 -- stop when there are enough, with some to spare
  )
  select array_agg(row(h.priority, h.run_at, h.id, h.job_queue_id)::{{.schema}}._gw_place order by h.priority, h.run_at, h.id),
         coalesce(sum(least(h.jobs, jobs_each)) filter (where h.counts), 0) >= claim.batch_size
         or not exists (select from walked offset claim.batch_size + 14) and not exists (select from free offset claim.batch_size + 2)
    into heads, is_complete
    from (select distinct on (f.job_queue_id)
                 f.job_queue_id, f.priority, f.run_at, f.id, f.is_free, f.counts, count(*) over (partition by f.job_queue_id) as jobs
            from free as f
           order by f.job_queue_id, f.priority, f.run_at, f.id) as h
   where h.is_free;
end;
$$;

comment on function {{.schema}}._gw_walk_queues({{.schema}}._gw_claim, {{.schema}}._gw_place, integer, txid_snapshot, xid[]) is
  'Internal: returns the heads of the named queues that a claim may take, if the first jobs in queues tell.';

-- Reads the first jobs in queues of the tasks of the claim, so the number of queues of other tasks does not matter. It goes from
-- priority to priority, so it reads no future job. The row comparison can use only _gw_queued_tasks, whatever the statistics are.
create or replace function {{.schema}}._gw_walk_tasks(
  claim {{.schema}}._gw_claim, before {{.schema}}._gw_place, jobs_each integer, snapshot txid_snapshot, lockers xid[],
  out heads {{.schema}}._gw_place[], out is_complete boolean)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  with recursive priorities (priority, number) as (
    select -32769, 0
    union all
    select (select min((select case when n.task_id = t.id then n.priority end
                          from (select j.task_id, j.priority
                                  from {{.schema}}._private_jobs as j
                                 where j.is_available and j.job_queue_id > 0 and (j.task_id, j.priority) > (t.id, p.priority)
                                 order by j.task_id, j.priority
                                 limit 1) as n))
              from unnest(claim.task_ids) as t (id)), p.number + 1
      from priorities as p
     where p.priority is not null and p.number < 500
  ), walked as materialized (
    select n.job_queue_id, n.priority, n.run_at, n.id, n.is_free, n.suits
      from priorities as p
     cross join lateral (
           select s.job_queue_id, s.priority, s.run_at, s.id, s.is_free, s.suits
             from unnest(claim.task_ids) as t (id)
            cross join lateral (
                  select j.job_queue_id, j.priority, j.run_at, j.id, {{.schema}}._gw_may_lock(j.xmax, snapshot, lockers) as is_free,
                         {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim) as suits
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id > 0
                     and (j.task_id, j.priority, j.run_at, j.id) >= (t.id, p.priority, timestamptz '-infinity', 0)
                     and (j.task_id, j.priority, j.run_at, j.id) <= (t.id, p.priority, claim.due, 9223372036854775807)
                   order by j.task_id, j.priority, j.run_at, j.id
                   limit claim.batch_size + 50) as s
            order by s.run_at, s.id
            limit claim.batch_size + 50) as n
     limit claim.batch_size + 50
  ), free as materialized (
    select w.job_queue_id, w.priority, w.run_at, w.id, w.is_free, w.counts
      from (select w.job_queue_id, w.priority, w.run_at, w.id, w.is_free,
                   (select case when q.locked_at is null then {{.schema}}._gw_may_lock(q.xmax, snapshot, lockers) end
                      from {{.schema}}._private_job_queues as q
                     where q.id = w.job_queue_id) as counts
              from walked as w
             where w.suits and (w.priority, w.run_at, w.id) < (before.priority, before.run_at, before.id)
            offset 0) as w
     where w.counts is not null
     limit 2 * claim.batch_size + 16
  )
  select array_agg(row(h.priority, h.run_at, h.id, h.job_queue_id)::{{.schema}}._gw_place order by h.priority, h.run_at, h.id),
         coalesce(sum(least(h.jobs, jobs_each)) filter (where h.counts), 0) >= claim.batch_size
         or (select count(*) from free) < 2 * claim.batch_size + 16 and (select count(*) from walked) < claim.batch_size + 50
            and not exists (select from priorities as p where p.number = 500)
    into heads, is_complete
    from (select distinct on (f.job_queue_id)
                 f.job_queue_id, f.priority, f.run_at, f.id, f.is_free, f.counts, count(*) over (partition by f.job_queue_id) as jobs
            from free as f
           order by f.job_queue_id, f.priority, f.run_at, f.id) as h
   where h.is_free;
end;
$$;

comment on function {{.schema}}._gw_walk_tasks({{.schema}}._gw_claim, {{.schema}}._gw_place, integer, txid_snapshot, xid[]) is
  'Internal: returns the heads of the named queues that a claim may take, if the first jobs of its tasks in queues tell.';

-- Goes from queue to queue and reads the first job of each that the claim may take: complete unless there are more than most_queues.
create or replace function {{.schema}}._gw_step_queues(
  claim {{.schema}}._gw_claim, most_queues integer, snapshot txid_snapshot, lockers xid[],
  out heads {{.schema}}._gw_place[], out is_complete boolean)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  with recursive queues (id, number) as (
    select 0, 0
    union all
    select n.job_queue_id, q.number + 1
      from queues as q
     cross join lateral (
           select j.job_queue_id
             from {{.schema}}._private_jobs as j
            where j.is_available and j.job_queue_id > q.id
            order by j.job_queue_id
            limit 1) as n
     where q.number <= most_queues
  )
  select array_agg(row(h.priority, h.run_at, h.id, h.job_queue_id)::{{.schema}}._gw_place order by h.priority, h.run_at, h.id),
         not exists (select from queues as q where q.number > most_queues)
    into heads, is_complete
    from (select h.priority, h.run_at, h.id, h.job_queue_id, w.counts,
                 count(*) filter (where w.counts) over (order by h.priority, h.run_at, h.id) as number
            from queues as q
           cross join lateral (
                 select j.job_queue_id, j.priority, j.run_at, j.id, j.xmax
                   from {{.schema}}._private_jobs as j
                  where j.is_available and j.job_queue_id = q.id
                    and {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim)
                  order by j.priority, j.run_at, j.id
                  limit 1) as h
           cross join lateral (
                 select (select case when w.locked_at is null then {{.schema}}._gw_may_lock(w.xmax, snapshot, lockers) end
                           from {{.schema}}._private_job_queues as w
                          where w.id = q.id) as counts
                 offset 0) as w
           where q.number <= most_queues and w.counts is not null and {{.schema}}._gw_may_lock(h.xmax, snapshot, lockers)) as h
   where h.number <= claim.batch_size + 64;
end;
$$;

comment on function {{.schema}}._gw_step_queues({{.schema}}._gw_claim, integer, txid_snapshot, xid[]) is
  'Internal: returns the heads of the named queues that a claim may take, by a look at each queue.';
