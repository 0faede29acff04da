-- Returns the heads of the first free queues, in the order of jobs, before a place (null: of all). There are more than
-- the batch needs, because other claims may lock some of the queues. The function only reads.
-- If at most 16 queues have waiting jobs, it reads each. Otherwise a search that has found enough jobs suffices; up to
-- queue_batch jobs of a queue count, and if those that were found are too few, it reads more of their queues. It reads
-- the first jobs in queues, which suffice unless they are of busy queues or of other tasks; then the first jobs of the
-- tasks of the claim; then each queue, which takes 4 µs for each.
-- queue_ids: the first 17 queues with waiting jobs. snapshot: see _gw_may_lock.
create or replace function {{.schema}}._gw_front_queues(
  claim {{.schema}}._gw_claim, before {{.schema}}._gw_place, queue_ids integer[], snapshot txid_snapshot)
  returns {{.schema}}._gw_place[] language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  most   integer := claim.batch_size + 3; -- heads
  is_all boolean; -- these are all queues of the jobs before the place
  free   record;
begin
  before := coalesce(before, row(32767, 'infinity', 9223372036854775807, null)::{{.schema}}._gw_place);
  if cardinality(queue_ids) < 17 then
    return ({{.schema}}._gw_free_heads(claim, queue_ids, null, snapshot)).heads;
  end if;
  for look in 1 .. case when claim.task_ids is not null then 2 else 1 end loop
    if look = 1 then
      select array_agg(w.job_queue_id) filter (where w.suits), count(*) < claim.batch_size + 15 into queue_ids, is_all
        from (select j.job_queue_id, {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim) as suits
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id > 0 and (j.priority, j.run_at, j.id) < (before.priority, before.run_at, before.id)
               order by j.priority, j.run_at, j.id
               limit claim.batch_size + 15) as w;
    else
      most := 2 * claim.batch_size + 16;
      select t.queue_ids, t.is_all into queue_ids, is_all from {{.schema}}._gw_queues_by_task(claim, before) as t;
    end if;
    free := {{.schema}}._gw_free_heads(claim, queue_ids, most, snapshot);
    if free.jobs >= claim.batch_size or is_all and cardinality(free.heads) < most
       or claim.queue_batch > 1 and claim.batch_size = (
            select count(*)
              from (select from unnest(free.heads) as h
                     cross join lateral {{.schema}}._gw_first_in_queue(h.queue_id, claim, claim.queue_batch)
                     limit claim.batch_size) as j) then
      return free.heads;
    end if;
  end loop;
  queue_ids := {{.schema}}._gw_next_queues(null);
  return ({{.schema}}._gw_free_heads(claim, queue_ids, null, snapshot)).heads;
end;
$$;

comment on function {{.schema}}._gw_front_queues({{.schema}}._gw_claim, {{.schema}}._gw_place, integer[], txid_snapshot) is 'Internal: returns the heads of the first free queues, in the order of jobs, before a place (null: of all).';

-- Returns the heads of those of these queues that nobody works, in the order of jobs: the first job of each that the
-- claim may take, unless somebody changes it. Queues whose row somebody has locked are among them, but do not count:
-- they may be locked by a claim, or for a producer above READ COMMITTED. queue_ids: a queue for each of its jobs that
-- was found. It ends after most heads, if that is not null. jobs: how many jobs of the queues that count were found, up
-- to queue_batch of a queue. The subqueries with an offset look at one queue at a time, because a join could read all
-- queues.
create or replace function {{.schema}}._gw_free_heads(
  claim {{.schema}}._gw_claim, queue_ids integer[], most integer, snapshot txid_snapshot,
  out heads {{.schema}}._gw_place[], out jobs bigint)
  language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  select coalesce(array_agg(row(f.priority, f.run_at, f.id, f.job_queue_id)::{{.schema}}._gw_place order by f.priority, f.run_at, f.id), '{}'),
         coalesce(sum(least(f.jobs, claim.queue_batch)) filter (where f.counts), 0) into heads, jobs
    from (select q.id as job_queue_id, h.priority, h.run_at, h.id, w.counts, q.jobs
            from (select u.id, count(*) as jobs
                    from unnest(queue_ids) with ordinality as u (id, place)
                   group by u.id
                   order by min(u.place)) as q
           cross join lateral (
                 select {{.schema}}._gw_may_lock(w.xmax, snapshot) as counts
                   from {{.schema}}._private_job_queues as w
                  where w.id = q.id and w.locked_at is null
                 offset 0) as w
           cross join lateral {{.schema}}._gw_first_in_queue(q.id, claim, 1) as h
           where {{.schema}}._gw_may_lock(h.locker, snapshot)
           limit most) as f;
end;
$$;

comment on function {{.schema}}._gw_free_heads({{.schema}}._gw_claim, integer[], integer, txid_snapshot) is 'Internal: returns the heads of those of these queues that nobody works, in the order of jobs: the first job of each that the claim may take, unless somebody changes it.';

-- Returns the first named queues with waiting jobs, by their ids; all if most is null.
create or replace function {{.schema}}._gw_next_queues(most integer)
  returns integer[] language plpgsql set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  return array(
    with recursive queues (id) as (
      select 0
      union all
      select n.job_queue_id
        from queues as q
       cross join lateral (
             select j.job_queue_id
               from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id > q.id
              order by j.job_queue_id
              limit 1) as n
    )
    select q.id from queues as q offset 1 limit most);
end;
$$;

comment on function {{.schema}}._gw_next_queues(integer) is 'Internal: returns the first named queues with waiting jobs, by their ids; all if most is null.';

-- Reads the first jobs in queues that are of the tasks of the claim, and returns the queue of each that suits it, and
-- whether these are all before a place. So the number of queues of other tasks does not matter. It goes from
-- priority to priority, so it reads no future job. The row comparison can use only _gw_queued_tasks, whatever the
-- statistics are.
create or replace function {{.schema}}._gw_queues_by_task(
  claim {{.schema}}._gw_claim, before {{.schema}}._gw_place, out queue_ids integer[], out is_all boolean)
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
  )
  select array_agg(w.job_queue_id) filter (where w.suits and (w.priority, w.run_at, w.id) < (before.priority, before.run_at, before.id)),
         count(*) < claim.batch_size + 50 and not exists (select from priorities as p where p.number = 500)
    into queue_ids, is_all
    from (select n.*
            from priorities as p
           cross join lateral (
                 select s.*
                   from unnest(claim.task_ids) as t (id)
                  cross join lateral (
                        select j.job_queue_id, j.priority, j.run_at, j.id,
                               {{.schema}}._gw_suits_claim(j.run_at, j.task_id, j.flags, claim) as suits
                          from {{.schema}}._private_jobs as j
                         where j.is_available and j.job_queue_id > 0
                           and (j.task_id, j.priority, j.run_at, j.id) >= (t.id, p.priority, timestamptz '-infinity', 0)
                           and (j.task_id, j.priority, j.run_at, j.id) <= (t.id, p.priority, claim.due, 9223372036854775807)
                         order by j.task_id, j.priority, j.run_at, j.id
                         limit claim.batch_size + 50) as s
                  order by s.run_at, s.id
                  limit claim.batch_size + 50) as n
           limit claim.batch_size + 50) as w;
end;
$$;

comment on function {{.schema}}._gw_queues_by_task({{.schema}}._gw_claim, {{.schema}}._gw_place) is 'Internal: reads the first jobs in queues that are of the tasks of the claim, and returns the queue of each that suits it, and whether these are all before a place.';
