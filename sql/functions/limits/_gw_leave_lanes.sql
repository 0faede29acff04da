-- Called by every function that frees jobs or makes them available in another way: makes claims read their groups, and the lanes
-- whose slots they had. Notifies the workers if it changes something. The function is security definer, because reschedule_jobs and
-- force_unlock_workers run with the rights of their caller.
-- Locks: slots.
create or replace function {{.schema}}._gw_leave_lanes(
  job_ids bigint[]
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_free_slots(job_ids);
  if {{.schema}}._gw_put_fronts(job_ids) > 0 then
    perform {{.schema}}._gw_wake(1);
  end if;
end;
$$;

comment on function {{.schema}}._gw_leave_lanes(bigint[]) is
  'Internal: makes claims read the groups of these jobs, and the lanes whose slots they had.';

-- Called by every function that recovers jobs because their worker seems dead, before _gw_leave_lanes: the slots of strict limits
-- still count for some time, because the handlers may still run. Claims read their lanes again after that.
create or replace function {{.schema}}._gw_keep_slots(
  job_ids bigint[]
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
begin
  with kept as (
    insert into {{.schema}}._gw_slots as k (lane_id, job_id, locked_at, kept_until)
    select s.lane_id, -s.job_id, s.locked_at, clock_timestamp() + i.strict
      from {{.schema}}._gw_slots as s
      join {{.schema}}._gw_lanes as l on l.id = s.lane_id
      join {{.schema}}._gw_limits as i on i.id = l.limit_id and i.strict is not null
     where s.job_id = any (job_ids)
       and (select j.locked_at = s.locked_at from {{.schema}}._private_jobs as j where j.id = s.job_id) is not true
        on conflict on constraint _gw_slots_pkey do update set kept_until = excluded.kept_until
    returning k.lane_id, k.kept_until
  )
  insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id)
  select k.lane_id, 0, k.kept_until, 0 from kept as k;
end;
$$;

comment on function {{.schema}}._gw_keep_slots(bigint[]) is
  'Internal: keeps the slots of recovered jobs for as long as their limits are strict.';

-- Called by every function that ends jobs: makes claims read the lanes whose slots they had. Slots of jobs that still run remain.
-- If a job ends without this call, because its row was deleted by hand, its slots do not count either, and a heartbeat deletes
-- them. Notifies the workers if it changes something.
-- Locks: slots.
create or replace function {{.schema}}._gw_free_slots(
  job_ids bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  lanes bigint;
begin
  with gone as (
    delete from {{.schema}}._gw_slots as s
     where s.job_id = any (job_ids)
       and (select j.locked_at = s.locked_at from {{.schema}}._private_jobs as j where j.id = s.job_id) is not true
    returning s.lane_id
  )
  insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id)
  select distinct g.lane_id, 0, timestamptz '-infinity', 0 from gone as g;
  get diagnostics lanes = row_count;
  if lanes > 0 then
    perform {{.schema}}._gw_wake(1);
  end if;
end;
$$;

comment on function {{.schema}}._gw_free_slots(bigint[]) is
  'Internal: makes claims read the lanes whose slots these jobs had.';

-- Makes claims read a group to which add_job is about to add a job. Null: the defaults of add_job; -infinity: the job keeps a
-- run_at that is not known. The function is security definer, because add_job runs with the rights of its caller.
create or replace function {{.schema}}._gw_add_front(
  group_id integer,
  priority integer,
  run_at   timestamptz
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  insert into {{.schema}}._gw_fronts (group_id, lane_id, priority, run_at, job_id, covers)
  values (group_id, (select g.fair_lane from {{.schema}}._gw_groups as g where g.id = _gw_add_front.group_id), coalesce(priority, 0),
          coalesce(run_at, now()), 0, case when run_at = '-infinity' then 'infinity' else coalesce(run_at, now()) end);
end;
$$;

comment on function {{.schema}}._gw_add_front(integer, integer, timestamptz) is
  'Internal: makes claims read a group to which add_job is about to add a job.';

-- Makes claims read the groups of those of these jobs that are available. Returns the number of fronts it adds. The function
-- is security definer, because add_job runs with the rights of its caller.
create or replace function {{.schema}}._gw_put_fronts(
  job_ids bigint[]
)
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  put bigint;
begin
  insert into {{.schema}}._gw_fronts (group_id, lane_id, priority, run_at, job_id, covers)
  select distinct on (j.job_queue_id, j.priority)
         j.job_queue_id, (select g.fair_lane from {{.schema}}._gw_groups as g where g.id = j.job_queue_id), j.priority, j.run_at, j.id,
         max(j.run_at) over (partition by j.job_queue_id, j.priority)
    from {{.schema}}._private_jobs as j
   where j.id = any (job_ids) and j.is_available and j.job_queue_id < 0
   order by j.job_queue_id, j.priority, j.run_at, j.id;
  get diagnostics put = row_count;
  return put;
end;
$$;

comment on function {{.schema}}._gw_put_fronts(bigint[]) is
  'Internal: makes claims read the groups of those of these jobs that are available.';
