-- Called by every function that frees jobs or makes them available in another way: makes claims read their groups, and the lanes
-- in which they ran. Notifies the workers if there are such jobs. The function is security definer, because reschedule_jobs and
-- force_unlock_workers run with the rights of their caller.
create or replace function {{.schema}}._gw_leave_lanes(
  job_ids bigint[]
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_free_lanes(array(
    select distinct j.job_queue_id from {{.schema}}._private_jobs as j where j.id = any (job_ids) and j.job_queue_id < 0));
  perform {{.schema}}._gw_put_fronts(job_ids);
end;
$$;

comment on function {{.schema}}._gw_leave_lanes(bigint[]) is
  'Internal: makes claims read the groups of these jobs, and the lanes in which they ran.';

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
    insert into {{.schema}}._gw_kept_slots as k (lane_id, job_id, kept_until)
    select l.id, j.id, clock_timestamp() + i.strict
      from {{.schema}}._private_jobs as j
      join {{.schema}}._gw_groups as g on g.id = j.job_queue_id
     cross join unnest(g.lanes) as u (lane)
      join {{.schema}}._gw_lanes as l on l.id = u.lane
      join {{.schema}}._gw_limits as i on i.id = l.limit_id and i.strict is not null
     where j.id = any (job_ids) and j.locked_at is null
        on conflict on constraint _gw_kept_slots_pkey do update set kept_until = excluded.kept_until
    returning k.lane_id, k.kept_until
  )
  insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id)
  select k.lane_id, 0, k.kept_until, 0 from kept as k;
end;
$$;

comment on function {{.schema}}._gw_keep_slots(bigint[]) is
  'Internal: keeps the slots of recovered jobs for as long as their limits are strict.';

-- Called by every function that ends jobs: makes claims read the lanes of these groups, in which the jobs ran, and notifies the
-- workers. Null elements and named queues do not count. If a job ends without this call, because its row was deleted by hand, its
-- slot is free as well, and a heartbeat makes claims read the lanes.
create or replace function {{.schema}}._gw_free_lanes(
  group_ids integer[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if 0 > any (group_ids) then
    insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id, ended) values (0, 0, '-infinity', 0, group_ids);
    perform {{.schema}}._gw_wake(1);
  end if;
end;
$$;

comment on function {{.schema}}._gw_free_lanes(integer[]) is
  'Internal: makes claims read the lanes of these groups, because jobs of them have ended.';

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
