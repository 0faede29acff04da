-- For claims: returns those of these tasks (null: all) whose jobs without limits may be claimed, and the named queues, as
-- patterns, whose jobs may not. While jobs are moved because a limit has changed, none of them is claimed from its old place;
-- the function moves some. is_paused: everything is paused.
-- Locks: as _gw_move_jobs.
create or replace function {{.schema}}._gw_barred_tasks(
  wanted               text[],
  out task_identifiers text[],
  out moving_queues    text[],
  out is_paused        boolean
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  moving text[];
  all_of boolean;
begin
  task_identifiers := wanted;
  is_paused := false;
  if not exists (select from {{.schema}}._gw_fronts as f
                  where f.barred_by is null and f.run_at = '-infinity' and f.group_id is null and f.lane_id is null) then
    return;
  end if;
  if exists (select from {{.schema}}._gw_pauses as p where p.limit_name is null and coalesce(p.until, 'infinity') > clock_timestamp()) then
    is_paused := true;
    return;
  end if;
  perform {{.schema}}._gw_move_jobs();
  select b.all_tasks, b.tasks, b.queues into all_of, moving, moving_queues from {{.schema}}._gw_moving_tasks() as b;
  if all_of then
    task_identifiers := '{}';
  elsif moving is not null then
    task_identifiers := array(
      select t.identifier
        from {{.schema}}._private_tasks as t
       where t.identifier <> all (moving) and (t.identifier = any (wanted)) is not false);
  end if;
  -- A single statement sees either nothing of a change and of a pause, or all of it.
  delete from {{.schema}}._gw_fronts as f
   where f.ctid = any (array(select w.ctid
                               from {{.schema}}._gw_fronts as w
                              where w.barred_by is null and w.run_at = '-infinity' and w.group_id is null and w.lane_id is null
                                and not exists (select from {{.schema}}._gw_moves)
                                and not exists (select from {{.schema}}._gw_pauses as p
                                                 where p.limit_name is null and coalesce(p.until, 'infinity') > clock_timestamp())
                                for update skip locked));
end;
$$;

comment on function {{.schema}}._gw_barred_tasks(text[]) is
  'Internal, for claims: returns the tasks whose jobs without limits may be claimed, and the named queues whose jobs may not.';

-- Returns which jobs outside of groups are not claimed until they are moved, because a limit is new: the jobs of these tasks
-- (null: of no task), whether this includes the jobs without a queue of all tasks, and the jobs of all tasks in the queues of
-- these patterns (null: of no queue). Claims and why() call it.
create or replace function {{.schema}}._gw_moving_tasks(
  out all_tasks boolean,
  out tasks     text[],
  out queues    text[]
)
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce(bool_or(m.tasks is null and m.queues is null), false),
         array_agg(distinct u.task) filter (where u.task is not null),
         array_agg(distinct {{.schema}}._gw_pattern(m.queues)) filter (where m.tasks is null and m.queues is not null)
    from {{.schema}}._gw_moves as m
    left join lateral unnest(m.tasks) as u (task) on true
   where m.bars
$$;

comment on function {{.schema}}._gw_moving_tasks() is
  'Internal: returns the tasks and queues whose jobs outside of groups are not claimed until they are moved.';

-- Returns whether the jobs of a named queue are not claimed until they are moved. moving: the queues of _gw_moving_tasks.
create or replace function {{.schema}}._gw_queue_moves(
  queue_id integer,
  moving   text[]
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select exists (select from {{.schema}}._private_job_queues as q
                  cross join unnest(moving) as m (pattern)
                  where q.id = queue_id and q.queue_name like m.pattern escape '!')
$$;

comment on function {{.schema}}._gw_queue_moves(integer, text[]) is
  'Internal: returns whether the jobs of a named queue are not claimed until they are moved.';

-- Returns the first batch_size of a claim's locked jobs; limited is in the order of _gw_fitting_jobs. If there are more, the
-- function notifies the workers: other claims may have skipped the rest because it was locked.
create or replace function {{.schema}}._gw_first_jobs(
  places  tid[],
  limited tid[],
  most    integer
)
  returns tid[]
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
begin
  if cardinality(places || limited) <= most then
    return places || limited;
  end if;
  perform {{.schema}}._gw_wake(1);
  return array(
    select o.ctid
      from (select m.*, max(m.run_at) over (partition by m.priority, m.number is null order by m.number, m.run_at, m.id) as behind
              from (select j.ctid, j.priority, j.run_at, j.id,
                           case when exists (select from {{.schema}}._gw_groups as g where g.id = j.job_queue_id and g.fair_lane is not null)
                                then array_position(limited, j.ctid) end as number
                      from {{.schema}}._private_jobs as j
                     where j.ctid = any (places || limited)) as m) as o
     order by o.priority, o.behind, o.number nulls first, o.run_at, o.id
     limit most);
end;
$$;

comment on function {{.schema}}._gw_first_jobs(tid[], tid[], integer) is
  'Internal: returns the first of a claim''s locked jobs, up to the size of the batch.';
