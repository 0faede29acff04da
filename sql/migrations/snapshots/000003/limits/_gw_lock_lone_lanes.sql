-- The due fronts of a priority, in order, whose lane no other claim has locked. is_old: the lane was not served of late.
{{ define "lone fronts" }}select f.place, f.group_id, f.run_at, f.job_id, l.id as lane_id,
                     not {{.schema}}._gw_served_of_late(l.served_at, claimed_at) as is_old,
                     coalesce(l.max_running, case when l.is_total then i.total_running else i.max_running end) as width,
                     g.is_lone and (f.covers > due) is not true and i.is_pause is false and i.strict is null
                     and coalesce(l.rate, i.rate) is null and l.closed_until <= claimed_at as is_simple
                from (select f.ctid as place, f.group_id, f.run_at, f.job_id, f.covers
                        from {{.schema}}._gw_fronts as f
                       where f.barred_by is null and f.group_id is not null and f.lane_id is null and f.turn is null
                         and f.priority = p.priority and f.run_at <= due
                       order by f.run_at, f.job_id) as f
               cross join lateral (
                      select g.lanes[1] as lane_id, cardinality(g.lanes) = 1 and g.queue_name is null and g.fair_lane is null as is_lone
                        from {{.schema}}._gw_groups as g
                       where g.id = f.group_id and not g.is_retired and (g.tasks && task_identifiers) is not false
                      offset 0) as g
               cross join lateral (
                      select l.id, l.limit_id, l.is_total, l.max_running, l.rate, l.closed_until, l.served_at
                        from {{.schema}}._gw_lanes as l
                       where l.id = g.lane_id for no key update skip locked) as l
                left join {{.schema}}._gw_limits as i on i.id = l.limit_id{{ end }}

-- For _gw_lock_limited_jobs, for several jobs: the short way of _gw_lock_lanes, _gw_lock_jobs and _gw_enter_lanes, for groups that
-- each have one lane of their own, of which nothing but the number of running jobs is limited. Returns the ctids of the locked jobs,
-- also of those without limits; null if the long way is needed, because one of the groups is of another kind, or the worker can have
-- a streak, or more jobs must be compared than this function reads. Both ways return the same jobs.
-- The caller has read that there are no fair limits, pauses, kept slots, streaks, suspects, or jobs to be moved.
-- The fronts are read before their lanes are locked, unlike in _gw_lock_lanes. That is enough to delete them: the next statement sees
-- the jobs that they stand for. A front that another claim has put in the meantime stays, and is read once more. If a group has
-- further jobs, its later fronts are deleted, too, as the new one stands for their jobs.
-- Performance: what is the same for all groups of a batch, such as that none of them has a running job, is asked once.
-- Locks: lanes, then what _gw_lock_jobs locks, without waiting.
create or replace function {{.schema}}._gw_lock_lone_lanes(
  worker_id            text,
  task_identifiers     text[],
  task_ids             integer[],
  batch_size           integer,
  forbidden_flags      text[],
  task_forbidden_flags json,
  flagged_tasks        integer[],
  task_flags           text[],
  due                  timestamptz,
  inout claimed_at     timestamptz,
  max_bytes            integer,
  queue_batch          integer,
  are_waiting          boolean, -- some group waits for a lane
  out places           tid[]
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
#variable_conflict use_column
declare
  front       record;    -- the fronts of a priority
  searched    integer;   -- that priority
  group_ids   integer[]; -- an element for each group, as in the next arrays
  lane_ids    integer[];
  widths      integer[]; -- how many jobs of the group may run at once
  mosts       bigint[];  -- how many this claim takes at most
  priorities  smallint[]; -- a place in the order of jobs that is no later than the first front, as in the next two
  run_ats     timestamptz[];
  job_ids     bigint[];
  fronts      tid[];     -- those that have been read
  are_old     boolean;   -- some of the lanes were not served of late
  is_cut      boolean;   -- there may be more fronts
  to_priority integer;   -- jobs that come later are not chosen: fronts that are not read may come before them
  to_run_at   timestamptz;
  limited     record;
  reads       bigint := {{.schema}}._gw_index_reads();
begin
  for round in 1..20 loop
    group_ids := null;
    lane_ids := null;
    widths := null;
    priorities := null;
    run_ats := null;
    job_ids := null;
    fronts := null;
    are_old := false;
    is_cut := false;
    searched := -32769;
    to_priority := 32767;
    to_run_at := 'infinity';
    loop -- one priority after the other, so that no later fronts of a more urgent one are read
      select max(p.priority) as priority, array_agg(s.group_id) as group_ids, array_agg(s.lane_id) as lane_ids,
             array_agg(s.width) as widths, array_agg(s.run_at) as run_ats, array_agg(s.job_id) as job_ids, array_agg(s.place) as places,
             bool_or(s.is_old) as are_old, bool_and(s.is_simple) as are_simple
        into front
        from (select f.priority
                from {{.schema}}._gw_fronts as f
               where f.barred_by is null and f.group_id is not null and f.lane_id is null and f.turn is null and f.priority > searched
               order by f.priority
               limit 1) as p
        left join lateral (
              {{ template "lone fronts" . }}
               limit batch_size - coalesce(cardinality(group_ids), 0)) as s on true;
      exit when front.priority is null;
      searched := front.priority;
      if front.are_simple is not null then -- there is one
        if not front.are_simple then
          return;
        end if;
        group_ids := group_ids || front.group_ids;
        lane_ids := lane_ids || front.lane_ids;
        widths := widths || front.widths;
        priorities := priorities || array_fill(searched::smallint, array[cardinality(front.group_ids)]);
        run_ats := run_ats || front.run_ats;
        job_ids := job_ids || front.job_ids;
        fronts := fronts || front.places;
        are_old := are_old or front.are_old;
        if cardinality(group_ids) = batch_size then
          is_cut := true;
          to_priority := searched;
          to_run_at := run_ats[batch_size];
          exit;
        end if;
      end if;
    end loop;
    if group_ids is null then
      places := coalesce({{.schema}}._gw_lock_jobs(
        worker_id, task_identifiers, batch_size, forbidden_flags, task_forbidden_flags, due, claimed_at, max_bytes, queue_batch), '{}');
      return;
    end if;

    mosts := array_fill((batch_size / cardinality(group_ids))::bigint, array[cardinality(group_ids)]);
    if are_waiting or cardinality(group_ids) > 1 and exists (select from unnest(group_ids) as u (id) group by u.id having count(*) > 1) then
      -- Groups with several fronts, some of which may be barred.
      select array_agg(g.group_id) as group_ids, array_agg(g.lane_id) as lane_ids, array_agg(g.width) as widths,
             array_agg(g.most) as mosts, array_agg(g.priority) as priorities, array_agg(g.run_at) as run_ats,
             array_agg(g.job_id) as job_ids,
             fronts || array(select f.ctid from {{.schema}}._gw_fronts as f where are_waiting and f.group_id = any (group_ids) and f.run_at <= due)
               as places
        into front
        from (select u.group_id, max(u.lane_id) as lane_id, max(u.width) as width, sum(u.most)::bigint as most,
                     min(u.priority) as priority, min(u.run_at) as run_at, min(u.job_id) as job_id
                from (select u.*
                        from unnest(group_ids, lane_ids, widths, mosts, priorities, run_ats, job_ids)
                          as u (group_id, lane_id, width, most, priority, run_at, job_id)
                      union all
                      select f.group_id, null, null, null, f.priority, case when f.covers > due then '-infinity' else f.run_at end, f.job_id
                        from {{.schema}}._gw_fronts as f
                       where are_waiting and f.group_id = any (group_ids) and f.run_at <= due) as u
               group by u.group_id) as g;
      group_ids := front.group_ids;
      lane_ids := front.lane_ids;
      widths := front.widths;
      mosts := front.mosts;
      priorities := front.priorities;
      run_ats := front.run_ats;
      job_ids := front.job_ids;
      fronts := front.places;
      if array_position(run_ats, '-infinity') is not null then
        return;
      end if;
    end if;

    -- A separate statement, which sees what the last holders of the lanes have committed. Of each group one job more is read than it
    -- may start, to know whether there is one. The jobs are locked together; those that suit no more by then are null or not locked.
    with lane as materialized (
      select u.most, u.room,
             case when cardinality(h.places) > least(u.most, u.room) then h.places[:least(u.most, u.room)] else h.places end as places,
             case when cardinality(h.places) > least(u.most, u.room) then
               (select row(u.group_id, null, case when u.most >= u.room then u.lane_id end, j.priority, j.run_at, j.id, due, null, null)::{{.schema}}._gw_fronts
                  from {{.schema}}._private_jobs as j
                 where j.is_available and j.job_queue_id = u.group_id and j.run_at <= due
                   and (j.priority, j.run_at, j.id) >= (u.first_priority, u.first_run_at, u.first_id)
                 order by j.priority, j.run_at, j.id
                offset greatest(least(u.most, u.room), 0)
                 limit 1)
             end as next,
             case when cardinality(h.places) > least(u.most, u.room) then
               array(select case when (f.covers > due) is not true then f.ctid end
                       from {{.schema}}._gw_fronts as f
                      where f.group_id = u.group_id and f.run_at <= due
                        and (f.priority, f.run_at, f.job_id) >= (u.first_priority, u.first_run_at, u.first_id))
             end as fronts
        from (select u.*,
                     u.width - case when (select exists (select
                                                           from {{.schema}}._private_jobs as j
                                                          where not j.is_available and j.job_queue_id < 0
                                                            and case when j.locked_at is not null then j.job_queue_id else 0 end
                                                                = any (group_ids))) then
                                 (select count(*)
                                    from {{.schema}}._private_jobs as j
                                   where not j.is_available and j.job_queue_id < 0
                                     and case when j.locked_at is not null then j.job_queue_id else 0 end = u.group_id)
                               else 0 end as room
                from unnest(group_ids, lane_ids, widths, mosts, priorities, run_ats, job_ids)
                  as u (group_id, lane_id, width, most, first_priority, first_run_at, first_id)
              offset 0) as u
       cross join lateral (
              select array_agg(case when h.is_suitable then h.place end) as places
                from (select j.ctid as place,
                             (j.priority, j.run_at) <= (to_priority, to_run_at)
                             and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
                               as is_suitable
                        from {{.schema}}._private_jobs as j
                       where j.is_available and j.job_queue_id = u.group_id and j.run_at <= due
                         and (j.priority, j.run_at, j.id) >= (u.first_priority, u.first_run_at, u.first_id)
                       order by j.priority, j.run_at, j.id
                       limit greatest(least(u.most, u.room), 0) + 1) as h) as h
    ), locked as (
      select j.ctid as place, j.priority, j.run_at, {{.schema}}._gw_most_bytes(j.payload) as bytes
        from {{.schema}}._private_jobs as j
       where j.ctid = any (array(select unnest(l.places) from lane as l)) and j.is_available -- in the order of ctids
         for update skip locked
    )
    select array(select unnest(l.places) as place from lane as l order by place) as places, k.places as locked, k.bytes, k.priority, k.run_at,
           array(select unnest(l.fronts) from lane as l) as fronts, l.fill_lanes, l.next_priority, l.next_run_at, l.next_fronts,
           exists (select from {{.schema}}._gw_groups as g where g.is_retired or g.queue_name is not null or cardinality(g.lanes) <> 1)
             as may_share,
           exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0) as have_suspects
      into limited
      from (select bool_or(l.most >= l.room and l.room > 0) as fill_lanes, array_agg(l.next) as next_fronts,
                   min((l.next).priority) filter (where l.most < l.room) as next_priority,
                   min((l.next).run_at) filter (where l.most < l.room) as next_run_at
              from lane as l
             where (l.next).job_id is not null) as l
     cross join (select array_agg(k.place) as places, max(k.priority) as priority, max(k.run_at) as run_at, sum(k.bytes) as bytes
                   from locked as k) as k;
    if limited.may_share then
      if (select count(*) <> cardinality(group_ids) or count(distinct g.lane_id) <> cardinality(group_ids)
            from {{.schema}}._gw_group_lanes as g
           where g.lane_id = any (lane_ids)) then
        return;
      end if;
    end if;
    if limited.have_suspects
       or array_position(limited.fronts, null) is not null
       or limited.places <> coalesce(limited.locked, '{}') -- of other tasks, locked, or later than fronts that are not read
       or limited.fill_lanes and queue_batch > 1 -- a streak
       -- A group may start its next job, which may come before others; or there may be more groups.
       or (limited.next_run_at is not null or is_cut and limited.places <> '{}') and cardinality(limited.places) < batch_size
       or limited.next_priority < limited.priority
       or limited.next_priority = limited.priority and limited.next_run_at <= limited.run_at then
      return;
    end if;

    if limited.places <> '{}' then
      claimed_at := clock_timestamp();
      places := limited.places;
      if cardinality(places) = batch_size then
        to_priority := limited.priority;
        to_run_at := limited.run_at;
      else
        to_priority := 32767;
        to_run_at := 'infinity';
      end if;
      if current_setting('gw.claim_cursor', true) <> '' or limited.bytes > max_bytes
         or exists (select from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id is null and (j.priority, j.run_at) <= (to_priority, to_run_at))
         or exists (select from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id > 0 and (j.priority, j.run_at) <= (to_priority, to_run_at))
         or {{.schema}}._gw_index_reads() - reads > 1000 then -- so that the next claims have a cursor
        places := {{.schema}}._gw_lock_jobs(
          worker_id, task_identifiers, batch_size, forbidden_flags, task_forbidden_flags, due, claimed_at, max_bytes, queue_batch,
          null, limited.places);
        if not limited.places <@ places then
          perform {{.schema}}._gw_enter_lanes(
            worker_id, places, group_ids, fronts || limited.fronts, claimed_at, due);
          return;
        end if;
      end if;
    end if;

    if are_old then
      update {{.schema}}._gw_lanes as l
         set served_at = _gw_lock_lone_lanes.claimed_at
       where l.id = any (lane_ids) and not {{.schema}}._gw_served_of_late(l.served_at, _gw_lock_lone_lanes.claimed_at);
    end if;
    delete from {{.schema}}._gw_fronts as f where f.ctid = any (fronts || limited.fronts);
    if limited.next_fronts is not null then
      insert into {{.schema}}._gw_fronts select u.* from unnest(limited.next_fronts) as u;
    end if;
    if places is not null then
      return;
    end if;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_lock_lone_lanes(text, text[], integer[], integer, text[], json, integer[], text[], timestamptz, timestamptz, integer, integer, boolean) is
  'Internal, for claims: chooses and locks due jobs of groups that have a lane of their own, and others; null if that takes more.';

-- Does the same for a claim of one job, without the arrays and aggregates, which take longer to start than to run.
-- Locks: a lane, then what _gw_lock_jobs locks, without waiting.
create or replace function {{.schema}}._gw_lock_lone_lane(
  worker_id            text,
  task_identifiers     text[],
  task_ids             integer[],
  forbidden_flags      text[],
  task_forbidden_flags json,
  flagged_tasks        integer[],
  task_flags           text[],
  due                  timestamptz,
  inout claimed_at     timestamptz,
  max_bytes            integer,
  queue_batch          integer,
  are_waiting          boolean,
  out places           tid[]
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
#variable_conflict use_column
declare
  searched integer; -- the priority of the fronts read last
  front    record;  -- the first, with its lane
  since    record;  -- a place in the order of jobs that is no later than the first front of the group
  job      record;
  reads    bigint := {{.schema}}._gw_index_reads();
begin
  for round in 1..20 loop
    searched := -32769;
    loop -- one priority after the other
      select p.priority, s.*
        into front
        from (select f.priority
                from {{.schema}}._gw_fronts as f
               where f.barred_by is null and f.group_id is not null and f.lane_id is null and f.turn is null and f.priority > searched
               order by f.priority
               limit 1) as p
        left join lateral (
              {{ template "lone fronts" . }}
               limit 1) as s on true;
      exit when front.priority is null or front.place is not null;
      searched := front.priority;
    end loop;
    if front.priority is null then
      places := coalesce({{.schema}}._gw_lock_jobs(
        worker_id, task_identifiers, 1, forbidden_flags, task_forbidden_flags, due, claimed_at, max_bytes, queue_batch), '{}');
      return;
    elsif not front.is_simple then
      return;
    end if;
    since := front;
    if are_waiting then -- it may have barred fronts
      select min(f.priority) as priority, min(f.run_at) as run_at, min(f.job_id) as job_id, bool_or(f.covers > due) as cover_more
        into since
        from {{.schema}}._gw_fronts as f
       where f.group_id = front.group_id and f.run_at <= due;
      if since.cover_more then
        return;
      end if;
    end if;

    -- A separate statement, which sees what the last holder of the lane has committed.
    select r.room, h.place, h.priority, h.run_at, n.priority as next_priority, n.run_at as next_run_at, n.id as next_id,
           exists (select from {{.schema}}._gw_group_lanes as g where g.lane_id = front.lane_id and g.group_id <> front.group_id) as is_shared,
           exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0) as have_suspects,
           case when n.id is not null or are_waiting then
             array(select case when (f.covers > due) is not true then f.ctid end
                     from {{.schema}}._gw_fronts as f
                    where f.group_id = front.group_id and f.run_at <= due
                      and (f.priority, f.run_at, f.job_id) >= (since.priority, since.run_at, since.job_id))
           end as fronts
      into job
      from (select front.width - count(*) as room
              from {{.schema}}._private_jobs as j
             where not j.is_available and j.job_queue_id < 0
               and case when j.locked_at is not null then j.job_queue_id else 0 end = front.group_id) as r
      left join lateral (
            select j.ctid as place, j.priority, j.run_at
              from {{.schema}}._private_jobs as j
             where r.room > 0
               and j.is_available and j.job_queue_id = front.group_id
               and (j.priority, j.run_at, j.id) >= (since.priority, since.run_at, since.job_id)
               and (j.priority, j.run_at) <= (front.priority, front.run_at)
               and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
             order by j.priority, j.run_at, j.id
             limit 1
               for update skip locked) as h on true
      left join lateral (
            select j.priority, j.run_at, j.id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = front.group_id and j.run_at <= due
               and (j.priority, j.run_at, j.id) >= (since.priority, since.run_at, since.job_id)
               and j.ctid is distinct from h.place
             order by j.priority, j.run_at, j.id
             limit 1) as n on true;
    if job.is_shared or job.have_suspects
       or array_position(job.fronts, null) is not null
       or job.place is null and job.room > 0 and job.next_id is not null then -- of another task, locked, or later than the front
      return;
    end if;

    if job.place is not null then
      claimed_at := clock_timestamp();
      places := array[job.place];
      if current_setting('gw.claim_cursor', true) <> ''
         or exists (select from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id is null and (j.priority, j.run_at) <= (job.priority, job.run_at))
         or exists (select from {{.schema}}._private_jobs as j
                     where j.is_available and j.job_queue_id > 0 and (j.priority, j.run_at) <= (job.priority, job.run_at))
         or {{.schema}}._gw_index_reads() - reads > 1000 then -- so that the next claims have a cursor
        places := {{.schema}}._gw_lock_jobs(
          worker_id, task_identifiers, 1, forbidden_flags, task_forbidden_flags, due, claimed_at, max_bytes, queue_batch, null, places);
        if job.place <> all (places) then
          perform {{.schema}}._gw_enter_lanes(
            worker_id, places, array[front.group_id], front.place || job.fronts, claimed_at, due);
          return;
        end if;
      end if;
      if front.is_old then
        update {{.schema}}._gw_lanes as l set served_at = _gw_lock_lone_lane.claimed_at where l.id = front.lane_id;
      end if;
    end if;
    delete from {{.schema}}._gw_fronts as f where f.ctid = any (front.place || job.fronts);
    if job.next_id is not null then
      insert into {{.schema}}._gw_fronts (group_id, barred_by, priority, run_at, job_id, covers)
      values (front.group_id, case when job.place is null or job.room <= 1 then front.lane_id end,
              job.next_priority, job.next_run_at, job.next_id, due);
    end if;
    if places is not null then
      return;
    end if;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_lock_lone_lane(text, text[], integer[], text[], json, integer[], text[], timestamptz, timestamptz, integer, integer, boolean) is
  'Internal, for claims: _gw_lock_lone_lanes for one job.';
