-- Locks the head jobs of named queues, each queue before its head: of the first queues so many as are wanted, passing by
-- those that somebody else has locked.
create or replace function {{.schema}}._gw_lock_heads(
  task_ids        integer[],
  front           integer[],
  wanted          integer,
  forbidden_flags text[],
  flagged_tasks   integer[],
  task_flags      text[],
  due             timestamptz,
  out heads       tid[],
  out queue_ids   integer[]
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- the planner's settings are those of get_job_batch
as $$
begin
  queue_ids := array(
    select l.id
      from (select f.id from unnest(front) with ordinality as f (id, place) order by f.place) as f
     cross join lateral (
            select q.id
              from {{.schema}}._private_job_queues as q
             where q.id = f.id and q.locked_at is null
               for no key update skip locked) as l
     limit wanted);

  -- A statement of its own, so that it sees what the last holder of each queue committed. A head that somebody changes or
  -- has just changed (xmin) is left alone, and its queue with it: the job behind must not overtake, and the head may be
  -- due later by now, or belong to another queue. A suspect is left alone likewise.
  select coalesce(array_agg(h.ctid), '{}'), coalesce(array_agg(h.job_queue_id), '{}')
    into heads, queue_ids
    from unnest(queue_ids) as q (id)
   cross join lateral (
          select j.id, j.xmin
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id = q.id
             and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
           order by j.priority, j.run_at, j.id
           limit 1) as head
   cross join lateral (
          select l.ctid, l.job_queue_id
            from {{.schema}}._private_jobs as l
           where l.id = head.id and l.xmin = head.xmin
             and not exists (select from {{.schema}}._gw_suspects as s where s.job_id = l.id and s.revision = l.revision)
             for update skip locked) as h;
end;
$$;

comment on function {{.schema}}._gw_lock_heads(integer[], integer[], integer, text[], integer[], text[], timestamptz) is
  'Internal: locks named queues and their head jobs for a claim.';
