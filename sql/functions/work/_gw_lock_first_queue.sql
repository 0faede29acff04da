-- For a batch of one, what _gw_front_queues is for larger ones, in the shortest way: locks the named queue that the next
-- job is in and returns it, or 0 if that job has no queue. Null if so short a look does not tell.
-- Locks: that queue, never waiting.
create or replace function {{.schema}}._gw_lock_first_queue(
  task_ids        integer[],
  forbidden_flags text[],
  flagged_tasks   integer[],
  task_flags      text[],
  due             timestamptz,
  from_priority   integer,
  from_run_at     timestamptz,
  from_id         bigint
)
  returns integer
  language plpgsql
  set search_path = pg_catalog, pg_temp -- the planner's settings are those of get_job_batch
as $$
declare
  plain    record;
  queue_id integer;
begin
  select j.priority, j.run_at, j.id,
         {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags) as suits
    into plain
    from {{.schema}}._private_jobs as j
   where j.is_available and j.job_queue_id is null
     and (j.priority, j.run_at, j.id) >= (from_priority, from_run_at, from_id)
   order by j.priority, j.run_at, j.id
   limit 1;
  if plain.suits is false then -- perhaps the next one does
    return null;
  end if;

  with walked as materialized (
    select j.job_queue_id,
           {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags) as suits
      from {{.schema}}._private_jobs as j
     where j.is_available and j.job_queue_id is not null
       and (j.priority, j.run_at, j.id)
           < (coalesce(plain.priority, 32767), coalesce(plain.run_at, 'infinity'), coalesce(plain.id, 9223372036854775807))
     order by j.priority, j.run_at, j.id
     limit 16
  )
  select coalesce((select l.id
                     from walked as w
                    cross join lateral (
                           select q.id
                             from {{.schema}}._private_job_queues as q
                            where q.id = w.job_queue_id and q.locked_at is null
                              for no key update skip locked) as l
                    where w.suits
                    limit 1),
                  case when plain.id is not null and not exists (select from walked offset 15) then 0 end)
    into queue_id;
  return queue_id;
end;
$$;

comment on function {{.schema}}._gw_lock_first_queue(integer[], text[], integer[], text[], timestamptz, integer, timestamptz, bigint) is
  'Internal: for a batch of one, locks and returns the named queue that the next job is in, 0 if it is in none, null if a short look does not tell.';
