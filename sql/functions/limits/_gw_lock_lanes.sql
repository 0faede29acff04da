-- For claims: chooses and locks up to batch_size due jobs with limits, in the order priority, run_at, id. Returns their
-- ctids, their groups, the fronts of these groups, and how many jobs their lanes may start. The locks of the lanes stay
-- until the transaction ends, and _gw_enter_lanes must be called with the jobs that are really claimed.
-- A front tells that a group has a job at a place, or that a lane may start jobs again. Fronts may be wrong, but none is
-- missing: who adds a job or makes it available, or frees a slot, inserts a front in the same transaction. Only a claim
-- deletes fronts, those that it saw in a statement that began when it held the lanes; what it then reads shows the jobs
-- that these fronts stand for. In their place it inserts the front that is true, barred if a lane is full.
-- A barred group is not read again until a slot of that lane becomes free.
-- seen: groups in which this claim has found nothing; it then looks at more of the others. most_fronts: how many fronts it
-- follows. come_later: a job comes later than the front of its group, because the job at the front is a suspect, is of
-- another task or has gone, and there are more fronts: jobs of other groups may come first.
-- Locks: lanes, then job rows, without waiting.
create or replace function {{.schema}}._gw_lock_lanes(
  task_identifiers text[],
  task_ids         integer[],
  batch_size       integer,
  forbidden_flags  text[],
  flagged_tasks    integer[],
  task_flags       text[],
  due              timestamptz,
  claimed_at       timestamptz,
  suspects         boolean,
  seen             integer[],
  most_fronts      integer,
  out places       tid[],
  out group_ids    integer[],
  out fronts       tid[],
  out lanes        integer[],
  out rooms        integer[],
  out come_later   boolean
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  freed     integer[];
  lane_ids  integer[];
  has_more  boolean;
begin
  freed := array(
    select l.id
      from (select distinct f.lane_id
              from (select f.lane_id
                      from {{.schema}}._gw_fronts as f
                     where f.barred_by is null and f.run_at <= claimed_at and f.lane_id is not null
                     order by f.run_at
                     limit 500) as f) as f
     cross join lateral (
            select l.id from {{.schema}}._gw_lanes as l where l.id = f.lane_id for no key update skip locked) as l);
  if freed <> '{}' then
    delete from {{.schema}}._gw_fronts as f where f.lane_id = any (freed) and f.run_at <= claimed_at;
    -- Separate statements: they see what the transactions have done whose fronts were deleted.
    if exists (select from {{.schema}}._gw_fronts as f where f.barred_by = any (freed)) then
      perform {{.schema}}._gw_open_lanes(freed, claimed_at);
    end if;
  end if;

  select array_agg(distinct l.id), array_agg(distinct u.lane), count(distinct l.front) = most_fronts
    into group_ids, lane_ids, has_more
    from (with recursive priorities (priority) as (
            (select f.priority
               from {{.schema}}._gw_fronts as f
              where f.barred_by is null and f.group_id is not null
              order by f.priority
              limit 1)
            union all
            select (select f.priority
                      from {{.schema}}._gw_fronts as f
                     where f.barred_by is null and f.group_id is not null and f.priority > p.priority
                     order by f.priority
                     limit 1)
              from priorities as p
             where p.priority is not null
          )
          select g.id, g.lanes, f.front
            from priorities as p
           cross join lateral (
                  select f.group_id, f.ctid as front
                    from {{.schema}}._gw_fronts as f
                   where f.barred_by is null and f.group_id is not null and f.priority = p.priority and f.run_at <= due
                   order by f.run_at, f.job_id) as f
           cross join lateral (
                  select g.id, g.lanes
                    from {{.schema}}._gw_groups as g
                   where g.id = f.group_id and not g.is_retired and (g.tasks && task_identifiers) is not false
                     and g.id <> all (seen)
                  offset 0) as g
           cross join lateral (
                  select from (select from {{.schema}}._gw_lanes as l where l.id = any (g.lanes) for no key update skip locked) as k
                  having count(*) = cardinality(g.lanes)) as k
           limit most_fronts) as l
   cross join unnest(l.lanes) as u (lane);
  if group_ids is null then
    return;
  end if;

  with lane as materialized (
    select r.lane_id, r.room from {{.schema}}._gw_lane_rooms(lane_ids, claimed_at) as r
  ), heads as materialized (
    select h.place, h.priority, h.run_at, h.id, g.id as group_id, g.lanes
      from (select g.id, g.lanes,
                   (select coalesce(min(r.room), batch_size) from lane as r where r.lane_id = any (g.lanes)) as room
              from {{.schema}}._gw_groups as g
             where g.id = any (group_ids)) as g
     cross join lateral (
            select j.ctid as place, j.priority, j.run_at, j.id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = g.id
               and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
               and case when suspects then
                      not exists (select from {{.schema}}._gw_suspects as s
                                   where s.job_id = j.id and s.revision = j.revision offset 0)
                    else (select not exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0))
                    end
             order by j.priority, j.run_at, j.id
             limit least(g.room, batch_size)
               for update skip locked) as h
     where g.room > 0
  ), fitting as (
    -- Groups may share a lane: of its jobs only the first fit. The very first job fits all its lanes.
    select u.place, u.priority, u.run_at, u.id, u.group_id, u.number
      from (select h.place, h.priority, h.run_at, h.id, h.group_id, u.lane,
                   row_number() over (partition by u.lane, h.group_id order by h.priority, h.run_at, h.id) as number,
                   row_number() over (partition by u.lane order by h.priority, h.run_at, h.id) as rank
              from heads as h
             cross join unnest(h.lanes) as u (lane)) as u
      join lane as r on r.lane_id = u.lane
     group by u.place, u.priority, u.run_at, u.id, u.group_id, u.number
    having bool_and(u.rank <= coalesce(r.room, u.rank))
  )
  select array(select f.place from fitting as f order by f.priority, f.run_at, f.id limit batch_size),
         array(select f.ctid from {{.schema}}._gw_fronts as f where f.group_id = any (group_ids)),
         (select array_agg(r.lane_id) from lane as r), (select array_agg(r.room) from lane as r),
         has_more
         and exists (select
                       from fitting as h
                       join {{.schema}}._gw_fronts as f on f.group_id = h.group_id
                      where h.number = 1 and f.barred_by is null and f.run_at <= due
                        and (f.priority, f.run_at) < (h.priority, h.run_at))
    into places, fronts, lanes, rooms, come_later;
end;
$$;

comment on function {{.schema}}._gw_lock_lanes(text[], integer[], integer, text[], integer[], text[], timestamptz, timestamptz, boolean, integer[], integer) is
  'Internal, for claims: chooses and locks due jobs with limits.';

-- Makes claims look at the groups that these lanes have barred, as many as the lanes may start jobs. Lanes that open
-- later get a front for that time. The caller holds the locks of the lanes, from an earlier statement.
create or replace function {{.schema}}._gw_open_lanes(
  lane_ids integer[],
  at       timestamptz
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
begin
  with lane as materialized (
    select r.lane_id, r.room, r.opens_at
      from {{.schema}}._gw_lane_rooms(lane_ids, at) as r
     where exists (select from {{.schema}}._gw_fronts as f where f.barred_by = r.lane_id)
  ), opened as (
    update {{.schema}}._gw_fronts as f
       set barred_by = null
     where f.ctid = any (array(select w.ctid
                                 from lane as r
                                cross join lateral (
                                      select w.ctid
                                        from {{.schema}}._gw_fronts as w
                                       where w.barred_by = r.lane_id
                                       order by w.priority, w.run_at, w.job_id
                                       limit r.room) as w))
  )
  insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id)
  select r.lane_id, 0, r.opens_at, 0
    from lane as r
   where r.room = 0 and r.opens_at is not null;
end;
$$;

comment on function {{.schema}}._gw_open_lanes(integer[], timestamptz) is
  'Internal: makes claims look at the groups that these lanes have barred.';
