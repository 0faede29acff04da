-- The named queues whose head jobs belong into the next batch, locked, in the order of their heads.
-- A batch mixes jobs with and without a queue by one order, so first it is read, without a lock, how many of its jobs come
-- from queues; then exactly so many free queues are locked, passing by those that somebody else is claiming.
--
-- The read walks the index from its front, a little further than the batch. That finds the batch at once unless busy
-- queues stand in front with long backlogs; then a second read steps from queue to queue instead.
-- queues_only: as if there were no jobs without a queue.
create or replace function {{.schema}}._gw_lock_queues(
  task_identifiers text[],
  batch_size       bigint,
  forbidden_flags  text[],
  due              timestamptz,
  queues_only      boolean
)
  returns integer[]
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
declare
  task_ids   integer[] := array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers));
  walk       integer   := 100;
  -- Other claimers lock queues without waiting for us: names beyond the batch, to pass on to.
  spare      integer   := 64;
  candidates integer[];
  wanted     integer;
  complete   boolean   := false;
begin
  if not queues_only then
    with walked as (
      select j.id, j.job_queue_id, row_number() over (order by j.priority, j.run_at, j.id) as place
        from {{.schema}}._private_jobs as j
       where j.is_available
         and j.run_at <= due
         and (task_identifiers is null or j.task_id = any (task_ids))
         and (forbidden_flags is null or (j.flags ?| forbidden_flags) is not true)
       order by j.priority, j.run_at, j.id
       limit batch_size + walk
    ), claimable as (
      select w.job_queue_id, min(w.place) as place
        from walked as w
        left join {{.schema}}._private_job_queues as q on q.id = w.job_queue_id
       where w.job_queue_id is null or q.locked_at is null
       group by w.job_queue_id, case when w.job_queue_id is null then w.id end
       order by 2
       limit batch_size + spare
    ), ranked as (
      select c.job_queue_id, c.place, row_number() over (order by c.place) as rank from claimable as c
    )
    select array_agg(r.job_queue_id order by r.place) filter (where r.job_queue_id is not null),
           count(r.job_queue_id) filter (where r.rank <= batch_size),
           count(*) >= batch_size or (select count(*) from walked) < batch_size + walk
      into candidates, wanted, complete
      from ranked as r;
  end if;

  if not complete then
    with recursive queues (id) as (
      (select j.job_queue_id
         from {{.schema}}._private_jobs as j
        where j.is_available and j.job_queue_id is not null
        order by j.job_queue_id
        limit 1)
      union all
      select (select j.job_queue_id
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id > queues.id
               order by j.job_queue_id
               limit 1)
        from queues
       where queues.id is not null
    ), claimable as (
      select h.job_queue_id, h.priority, h.run_at, h.id
        from queues
        join {{.schema}}._private_job_queues as q on q.id = queues.id and q.locked_at is null
       cross join lateral (
              select j.job_queue_id, j.priority, j.run_at, j.id
                from {{.schema}}._private_jobs as j
               where j.is_available
                 and j.job_queue_id = queues.id
                 and j.run_at <= due
                 and (task_identifiers is null or j.task_id = any (task_ids))
                 and (forbidden_flags is null or (j.flags ?| forbidden_flags) is not true)
               order by j.priority, j.run_at, j.id
               limit 1) as h
      union all
      (select null, j.priority, j.run_at, j.id
         from {{.schema}}._private_jobs as j
        where not queues_only
          and j.is_available
          and j.job_queue_id is null
          and j.run_at <= due
          and (task_identifiers is null or j.task_id = any (task_ids))
          and (forbidden_flags is null or (j.flags ?| forbidden_flags) is not true)
        order by j.priority, j.run_at, j.id
        limit batch_size)
    ), ranked as (
      select c.job_queue_id, row_number() over (order by c.priority, c.run_at, c.id) as rank from claimable as c
    )
    select array_agg(r.job_queue_id order by r.rank) filter (where r.job_queue_id is not null),
           count(r.job_queue_id) filter (where r.rank <= batch_size)
      into candidates, wanted
      from ranked as r
     where r.rank <= batch_size + spare;
  end if;

  if wanted = 0 then
    return array[]::integer[];
  end if;
  return array(
    select q.id
      from unnest(candidates) with ordinality as c (id, place)
      join {{.schema}}._private_job_queues as q on q.id = c.id
     where q.locked_at is null
     order by c.place
     limit wanted
       for no key update of q skip locked);
end;
$$;

comment on function {{.schema}}._gw_lock_queues(text[], bigint, text[], timestamptz, boolean) is
  'Internal: locks the named queues whose head jobs belong into the next batch and returns their ids.';
