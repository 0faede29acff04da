-- For _gw_lock_limited_jobs: the short way of _gw_lock_lanes, _gw_lock_jobs and _gw_enter_lanes, for groups that each have one lane
-- of their own, of which nothing but the number of running jobs is limited. Returns the ctids of the locked jobs, also of those
-- without limits; null if the long way is needed, because one of the groups is of another kind, or the worker can have a streak, or
-- more jobs must be compared than this function reads. Both ways return the same jobs and leave equivalent fronts.
-- The caller has read that there are no fair limits, pauses, kept slots, streaks, suspects, or jobs to be moved.
-- Performance: a claim of one job takes half of the time of the long way, mostly because fewer statements and aggregates are
-- started. That is why the row of a next front is built where it is found, and why some comparisons are of bounds.
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
  out places           tid[]
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
#variable_conflict use_column
declare
  front       record;    -- the fronts of a priority
  searched    integer;   -- that priority
  group_ids   integer[]; -- an element for each front, as in lane_ids
  lane_ids    integer[];
  to_priority integer;   -- jobs that come later are not chosen: fronts that are not read may come before them
  to_run_at   timestamptz;
  limited     record;
  reads       bigint := {{.schema}}._gw_index_reads();
begin
  for round in 1..20 loop
    group_ids := null;
    lane_ids := null;
    searched := -32769;
    to_priority := 32767;
    to_run_at := 'infinity';
    loop -- one priority after the other, so that no later fronts of a more urgent one are read
      select max(p.priority) as priority, max(s.run_at) as run_at, array_agg(s.group_id) as group_ids, array_agg(s.lane_id) as lane_ids,
             bool_and(s.is_lone) as are_lone
        into front
        from (select f.priority
                from {{.schema}}._gw_fronts as f
               where f.barred_by is null and f.group_id is not null and f.lane_id is null and f.turn is null and f.priority > searched
               order by f.priority
               limit 1) as p
        left join lateral (
              select f.group_id, f.run_at, g.lane_id, g.is_lone
                from (select f.group_id, f.run_at
                        from {{.schema}}._gw_fronts as f
                       where f.barred_by is null and f.group_id is not null and f.lane_id is null and f.turn is null
                         and f.priority = p.priority and f.run_at <= due
                       order by f.run_at, f.job_id) as f
               cross join lateral (
                      select g.lanes[1] as lane_id, cardinality(g.lanes) = 1 and g.queue_name is null and g.fair_lane is null as is_lone
                        from {{.schema}}._gw_groups as g
                       where g.id = f.group_id and not g.is_retired and (g.tasks && task_identifiers) is not false
                      offset 0) as g
               cross join lateral (select from {{.schema}}._gw_lanes as l where l.id = g.lane_id for no key update skip locked) as l
               limit batch_size - coalesce(cardinality(group_ids), 0)) as s on true;
      exit when front.priority is null;
      searched := front.priority;
      if front.run_at is not null then
        if not front.are_lone then
          return;
        end if;
        group_ids := group_ids || front.group_ids;
        lane_ids := lane_ids || front.lane_ids;
        if cardinality(group_ids) = batch_size then
          to_priority := searched;
          to_run_at := front.run_at;
          exit;
        end if;
      end if;
    end loop;
    if group_ids is null then
      places := coalesce({{.schema}}._gw_lock_jobs(
        worker_id, task_identifiers, batch_size, forbidden_flags, task_forbidden_flags, due, claimed_at, max_bytes, queue_batch), '{}');
      return;
    end if;

    -- A separate statement, which sees what the last holders of the lanes have committed. The jobs of a group are read from a place
    -- that is no later than the first of its fronts.
    with lane as materialized (
      select u.group_id, u.lane_id, k.is_simple and not f.cover_more as is_simple, k.is_old, u.most, k.width - r.running as room,
             f.places as fronts, h.places, coalesce(cardinality(h.places), 0) as jobs, h.run_at, h.bytes,
             n.priority as next_priority, n.run_at as next_run_at, n.id as next_id
        from (select u.group_id, u.lane_id, count(*) * (batch_size / cardinality(group_ids)) as most
                from unnest(group_ids, lane_ids) as u (group_id, lane_id)
               group by u.group_id, u.lane_id) as u
       cross join lateral (
              select coalesce(l.max_running, case when l.is_total then i.total_running else i.max_running end) as width,
                     (l.served_at > claimed_at - interval '10 seconds') is not true as is_old,
                     i.is_pause is false and i.strict is null and coalesce(l.rate, i.rate) is null and l.closed_until <= claimed_at
                     and not exists (select from {{.schema}}._gw_group_lanes as g where g.lane_id = u.lane_id and g.group_id <> u.group_id)
                       as is_simple
                from {{.schema}}._gw_lanes as l
                left join {{.schema}}._gw_limits as i on i.id = l.limit_id
               where l.id = u.lane_id
              offset 0) as k
       cross join lateral (
              select count(*) as running
                from {{.schema}}._private_jobs as j
               where not j.is_available and j.job_queue_id < 0
                 and case when j.locked_at is not null then j.job_queue_id else 0 end = u.group_id) as r
       cross join lateral (
              select array_agg(f.ctid) as places, min(f.priority) as priority, min(f.run_at) as run_at, min(f.job_id) as job_id,
                     coalesce(bool_or(f.covers > due), false) as cover_more
                from {{.schema}}._gw_fronts as f
               where f.group_id = u.group_id and f.run_at <= due) as f
       cross join lateral (
              select array_agg(h.place) as places, max(h.run_at) as run_at, sum(h.bytes) as bytes
                from (select j.ctid as place, j.run_at, case when batch_size = 1 then 0 else {{.schema}}._gw_most_bytes(j.payload) end as bytes
                        from {{.schema}}._private_jobs as j
                       where j.is_available and j.job_queue_id = u.group_id
                         and (j.priority, j.run_at, j.id) >= (f.priority, f.run_at, f.job_id)
                         and (j.priority, j.run_at) <= (to_priority, to_run_at)
                         and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
                         and not exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0)
                       order by j.priority, j.run_at, j.id
                       limit greatest(least(u.most, k.width - r.running), 0)
                         for update skip locked) as h) as h
        left join lateral (
              select j.priority, j.run_at, j.id
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id = u.group_id and (j.priority, j.run_at, j.id) >= (f.priority, f.run_at, f.job_id)
                 and j.run_at <= due and j.ctid <> all (coalesce(h.places, '{}'))
               order by j.priority, j.run_at, j.id
               limit 1) as n on true
    )
    select array(select unnest(l.places) from lane as l) as places, array(select unnest(l.fronts) from lane as l) as fronts,
           sum(l.bytes) as bytes, max(l.run_at) as run_at, bool_and(l.is_simple) as are_simple,
           bool_or(l.next_id is not null and l.jobs > 0 and l.jobs >= l.room) as fill_lanes,
           bool_or(l.next_id is not null and l.jobs = 0 and l.room > 0) as have_others, -- of other tasks, or locked
           min(l.next_run_at) filter (where l.jobs = l.most and l.jobs < l.room) as next_run_at,
           array_agg(l.lane_id) filter (where l.is_old and l.jobs > 0) as old_lanes,
           array_agg(row(l.group_id, null, case when l.jobs >= l.room then l.lane_id end,
                         l.next_priority, l.next_run_at, l.next_id, due, null, null)::{{.schema}}._gw_fronts)
             filter (where l.next_id is not null) as next_fronts
      into limited
      from lane as l;
    if not limited.are_simple
       or limited.fill_lanes and queue_batch > 1 -- a streak
       -- A group may start its next job, which may come before others; or there may be more groups.
       or (limited.next_run_at is not null or cardinality(group_ids) = batch_size and limited.places <> '{}')
          and cardinality(limited.places) < batch_size
       or limited.next_run_at <= limited.run_at
       or limited.have_others and limited.places = '{}' and cardinality(group_ids) = batch_size then
      return;
    end if;

    if limited.places = '{}' and limited.have_others then
      places := coalesce({{.schema}}._gw_lock_jobs(
        worker_id, task_identifiers, batch_size, forbidden_flags, task_forbidden_flags, due, claimed_at, max_bytes, queue_batch), '{}');
    elsif limited.places <> '{}' then
      claimed_at := clock_timestamp();
      places := limited.places;
      if cardinality(places) = batch_size then
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
            worker_id, places, array(select distinct u.id from unnest(group_ids) as u (id)), limited.fronts, claimed_at, due);
          return;
        end if;
      end if;
    end if;

    with served as (
      update {{.schema}}._gw_lanes as l set served_at = _gw_lock_lone_lanes.claimed_at where l.id = any (limited.old_lanes)
    )
    delete from {{.schema}}._gw_fronts as f
     where f.ctid = any (array(select l.ctid from {{.schema}}._gw_fronts as l where l.ctid = any (limited.fronts) for update skip locked));
    if limited.next_fronts is not null then
      insert into {{.schema}}._gw_fronts select u.* from unnest(limited.next_fronts) as u;
    end if;
    if places is not null then
      return;
    end if;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_lock_lone_lanes(text, text[], integer[], integer, text[], json, integer[], text[], timestamptz, timestamptz, integer, integer) is
  'Internal, for claims: chooses and locks due jobs of groups that have a lane of their own, and others; null if that takes more.';
