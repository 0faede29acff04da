-- For claims: chooses and locks up to batch_size due jobs with limits, in the order priority, run_at, id. Returns their
-- ctids, their groups, the fronts of these groups, and how many jobs their lanes may start. The locks of the lanes stay
-- until the transaction ends, and _gw_enter_lanes must be called with the jobs that are actually claimed.
-- barring, fair_lanes: what _gw_lock_freed_lanes has returned. streak: up to so many jobs for each slot. widths: how many jobs of
-- each of the groups the worker then runs at once.
-- A front records that a group has a job at a place in the order, or that a lane may start jobs again. Fronts may be wrong,
-- but none is missing: a transaction that adds a job, makes it available, or frees a slot, inserts a front. Only a claim
-- deletes fronts, and only those that it read in a statement that began while it held the lanes; its later statements then
-- see the jobs that these fronts stand for. It replaces them by a correct front, which is barred if a lane is full.
-- A barred group is not read again until a slot of that lane becomes free.
-- covers says what a front stands for: the jobs of its group at its place and after it that are due by then. At infinity it stands
-- for all jobs that are due at its run_at or later, at any place. So the jobs of a group are read from the first of its fronts on,
-- and not from the start of the index, where there may be many dead entries.
-- seen: groups in which this claim has found nothing; it then reads more of the other groups. most_fronts: how many fronts
-- it follows. come_later: there are more fronts, whose jobs may come before some of these. So it is when a group has several fronts,
-- or when its job at the front is a suspect, is of another task or no longer exists.
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
  streak           integer,
  barring          integer[],
  fair_lanes       integer[],
  out places       tid[],
  out group_ids    integer[],
  out fronts       tid[],
  out lanes        integer[],
  out rooms        integer[],
  out widths       integer[],
  out come_later   boolean
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  lane_ids      integer[];
  last_priority smallint; -- those of the last front without a turn, if there may be more of them
  last_run_at   timestamptz;
  more_fair     boolean; -- there may be more fronts with a turn
  owners        integer[]; -- the groups of the first jobs, in the order of claims
  priorities    smallint[];
  run_ats       timestamptz[];
  turns         bigint[];
  chosen        tid[];
  shares        boolean;   -- some of the groups share a lane
  most_slots    integer[]; -- of each of the groups; null: any number
  of_slots      integer[]; -- how many jobs for each slot
  most_jobs     integer;  -- of a group
  fair_jobs     integer;  -- of one with a turn
  -- A fair lane starts so many jobs in its turn: a large batch is shared among 25 lanes, because each costs time.
  quantum       constant integer := greatest(1, batch_size / 25);
  most_fair     integer := least(most_fronts, batch_size / quantum); -- fronts with a turn
  fitting       record;
begin
  if fair_lanes is not null then
    perform {{.schema}}._gw_look_up_turns(fair_lanes, due);
  end if;
  if barring is not null then
    select o.lanes, o.rooms into lanes, rooms from {{.schema}}._gw_open_lanes(barring, claimed_at) as o;
  end if;

  <<search>>
  loop
    select array_agg(distinct l.id), array_agg(distinct u.lane), bool_or(l.is_fair and l.number = most_fair),
           max(l.priority) filter (where l.number = most_fronts and not l.is_fair),
           max(l.run_at) filter (where l.number = most_fronts and not l.is_fair)
      into group_ids, lane_ids, more_fair, last_priority, last_run_at
      from ((with recursive priorities (priority) as (
               (select f.priority
                  from {{.schema}}._gw_fronts as f
                 where f.barred_by is null and f.group_id is not null and f.lane_id is null and f.turn is null
                 order by f.priority
                 limit 1)
               union all
               select (select f.priority
                         from {{.schema}}._gw_fronts as f
                        where f.barred_by is null and f.group_id is not null and f.lane_id is null and f.turn is null
                          and f.priority > p.priority
                        order by f.priority
                        limit 1)
                 from priorities as p
                where p.priority is not null
             )
             select g.id, g.lanes, p.priority, f.run_at, row_number() over () as number, false as is_fair
               from priorities as p
              cross join lateral (
                     select f.group_id, f.run_at
                       from {{.schema}}._gw_fronts as f
                      where f.barred_by is null and f.group_id is not null and f.lane_id is null and f.turn is null
                        and f.priority = p.priority and f.run_at <= due
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
              limit most_fronts)
            union all
            (select o.id, o.lanes, null, null, row_number() over (), true
               from (select f.group_id
                       from {{.schema}}._gw_fronts as f
                      where f.barred_by is null and f.turn is not null and f.run_at <= due
                      order by f.priority, f.turn, f.run_at, f.job_id) as f
              cross join lateral (
                     select g.id, g.lanes
                       from {{.schema}}._gw_groups as g
                      where g.id = f.group_id and not g.is_retired and (g.tasks && task_identifiers) is not false
                        and g.id <> all (seen)
                     offset 0) as o
              cross join lateral (
                     select from (select from {{.schema}}._gw_lanes as l where l.id = any (o.lanes) for no key update skip locked) as k
                     having count(*) = cardinality(o.lanes)) as k
              limit most_fair)) as l
     cross join unnest(l.lanes) as u (lane);
    if group_ids is null then
      return;
    end if;

    -- If there are several groups, first a few jobs of each: most jobs of a batch are from one group only if that is far ahead.
    most_jobs := case when cardinality(group_ids) = 1 then batch_size
                      when cardinality(group_ids) >= batch_size then least(batch_size, 2)
                      else least(batch_size, 1 + 2 * batch_size / cardinality(group_ids)) end;
    fair_jobs := case when quantum > 1 and cardinality(group_ids) >= batch_size / quantum then quantum else most_jobs end;
    if lanes is distinct from lane_ids then
      select array_agg(r.lane_id), array_agg(r.room) into lanes, rooms from {{.schema}}._gw_lane_rooms(lane_ids, claimed_at) as r;
    end if;
    with pairs as materialized ( -- materialized, so that the rooms are joined by their hash
      select g.id, g.lanes, u.lane from {{.schema}}._gw_groups as g cross join unnest(g.lanes) as u (lane) where g.id = any (group_ids)
    ), room as materialized (
      select p.id, p.lanes, min(r.room) as slots
        from pairs as p
        left join unnest(_gw_lock_lanes.lanes, rooms) as r (lane, room) on r.lane = p.lane
       group by p.id, p.lanes
    )
    select array_agg(r.slots order by r.id),
           array_agg(case when streak > 1 and r.slots between 1 and batch_size - 1 then {{.schema}}._gw_of_slot(r.lanes, streak) else 1 end
                     order by r.id),
           (select count(*) > cardinality(_gw_lock_lanes.lanes) from pairs as p)
      into most_slots, of_slots, shares
      from room as r;
    loop
      with heads as materialized (
        select h.place, h.priority, h.run_at, h.id, g.id as group_id, g.turn
          from (select g.id,
                       case when g.fair_lane is not null then
                         (select l.turn from {{.schema}}._gw_lanes as l where l.id = g.fair_lane)
                       end as turn,
                       least(case when g.fair_lane is not null then fair_jobs else most_jobs end, o.slots::bigint * o.of_slot) as most
                  from unnest(group_ids, most_slots, of_slots) as o (id, slots, of_slot)
                  join {{.schema}}._gw_groups as g on g.id = o.id
                offset 0) as g
          left join lateral (
                select f.priority, f.run_at, f.job_id
                  from {{.schema}}._gw_fronts as f
                 where f.group_id = g.id and f.run_at <= due
                 order by f.priority, f.run_at, f.job_id
                 limit 1) as f on not exists (select from {{.schema}}._gw_fronts as w
                                               where w.group_id = g.id and w.run_at <= due and w.covers = 'infinity')
         cross join lateral (
                select j.ctid as place, j.priority, j.run_at, j.id
                  from {{.schema}}._private_jobs as j
                 where j.is_available and j.job_queue_id = g.id
                   and (j.priority, j.run_at, j.id) >= (coalesce(f.priority, -32768)::smallint, coalesce(f.run_at, '-infinity'), coalesce(f.job_id, 0))
                   and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
                   and case when suspects then
                          not exists (select from {{.schema}}._gw_suspects as s
                                       where s.job_id = j.id and s.revision = j.revision offset 0)
                        else (select not exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0))
                        end
                 order by j.priority, j.run_at, j.id
                 limit g.most
                   for update skip locked) as h
         where g.most > 0
      )
      select h.places, h.owners, h.priorities, h.run_ats, h.turns,
             array(select f.ctid
                     from (select f.ctid, f.run_at,
                                  bool_or(case when f.run_at <= due then f.covers > due else f.covers < 'infinity' end)
                                    over (partition by f.group_id) as renews
                             from {{.schema}}._gw_fronts as f
                            where f.group_id = any (group_ids)) as f
                    where f.run_at <= due or f.renews)
        into places, owners, priorities, run_ats, turns, fronts
        from (select array_agg(h.place) as places, array_agg(h.group_id) as owners, array_agg(h.priority) as priorities,
                     array_agg(h.run_at) as run_ats, array_agg(h.turn) as turns
                from (select h.* from heads as h order by h.priority, h.run_at, h.id) as h) as h;
      if places is null then
        places := '{}';
        come_later := false;
        return;
      end if;

      if cardinality(group_ids) = 1 then -- all of its jobs fit
        widths := most_slots;
        exit search;
      end if;
      fitting := {{.schema}}._gw_fitting_jobs(
        places, owners, priorities, run_ats, turns, group_ids, most_slots, of_slots, lanes, rooms, shares, batch_size, quantum,
        most_jobs, fair_jobs);
      exit when most_jobs = batch_size and fair_jobs = batch_size or not fitting.is_cut;
      most_jobs := least(batch_size, 4 * most_jobs); -- the next jobs of a group may come before those of others
      fair_jobs := least(batch_size, 4 * fair_jobs);
    end loop;
    exit when not more_fair or most_fair = most_fronts or cardinality(fitting.places) >= batch_size * 3 / 4;
    most_fair := least(most_fronts, most_fair * (1 + batch_size / cardinality(fitting.places))); -- these lanes have few jobs each
  end loop;

  if cardinality(group_ids) > 1 then
    chosen := fitting.places;
    widths := array(
      select w.width
        from unnest(group_ids) with ordinality as g (id, number)
        left join unnest(fitting.groups, fitting.widths) as w (owner, width) on w.owner = g.id
       order by g.number);
  else
    chosen := places;
  end if;
  come_later :=
    last_priority is not null
    and (array_position(turns, null) is null
         or not shares and cardinality(chosen) < batch_size
         or exists (select
                      from unnest(places, priorities, run_ats, turns) as h (place, priority, run_at, turn)
                     where h.turn is null and (h.priority, h.run_at) > (last_priority, last_run_at) and h.place = any (chosen)))
    or more_fair
    and (num_nonnulls(variadic turns) = 0
         or exists (select
                      from (select distinct on (h.owner) h.* from unnest(owners, priorities, run_ats, turns) as h (owner, priority, run_at, turn)
                             order by h.owner, h.priority, h.run_at) as h
                      join {{.schema}}._gw_fronts as f on f.group_id = h.owner
                     where f.barred_by is null and f.run_at <= due
                       and ((f.priority, f.run_at) < (h.priority, h.run_at) or f.turn < h.turn)));
  places := chosen;
end;
$$;

comment on function {{.schema}}._gw_lock_lanes(text[], integer[], integer, text[], integer[], text[], timestamptz, timestamptz, boolean, integer[], integer, integer, integer[], integer[]) is
  'Internal, for claims: chooses and locks due jobs with limits.';

-- Returns those of the first jobs of groups that a claim may start, in the order of claims: priority, run_at, id, which is that
-- of the arrays; and among the jobs with a turn priority, turn, run_at, id. A job with a turn is placed as if the jobs with
-- earlier turns had its run_at or an earlier one. After every quantum of its jobs a lane has the turn of a lane with one more
-- running job; until then its jobs follow the first of them.
-- Groups may share a lane (shares): only the first of its jobs fit. The very first job fits all its lanes. For each slot that a group
-- gets, which are most_slots at most, up to of_slots of its jobs fit, of which the first start at once. widths: how many slots each
-- of groups gets; null: any number. is_cut: if there had been more than most_jobs jobs of each group, or fair_jobs of those with a
-- turn, others could come first.
create or replace function {{.schema}}._gw_fitting_jobs(
  heads      tid[],
  owners     integer[],
  priorities smallint[],
  run_ats    timestamptz[],
  turns      bigint[],
  group_ids  integer[],
  most_slots integer[],
  of_slots   integer[],
  lanes      integer[],
  rooms      integer[],
  shares     boolean,
  batch_size integer,
  quantum    integer,
  most_jobs  integer,
  fair_jobs  integer,
  out places tid[],
  out groups integer[],
  out widths integer[],
  out is_cut boolean
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
#variable_conflict use_column
begin
  if not shares and num_nonnulls(variadic turns) = 0 then
    places := heads[:batch_size]; -- none of a group but those that fit it
    groups := group_ids;
    widths := most_slots;
    is_cut := exists (select from unnest(owners[:batch_size]) as o (id) group by o.id having count(*) >= most_jobs);
    return;
  elsif not shares and num_nulls(variadic turns) = 0 then
    -- The jobs of a lane in one of its turns stay together.
    groups := group_ids;
    widths := most_slots;
    with rounds as (
      select h.owner, h.turn, h.round, h.priority, min(h.n) as first_n, array_agg(h.place order by h.n) as places
        from (select u.*, (row_number() over (partition by u.owner order by u.n) - 1) / quantum as round
                from unnest(heads, owners, priorities, turns) with ordinality as u (place, owner, priority, turn, n)) as h
       group by h.owner, h.turn, h.round, h.priority
    ), placed as (
      select t.*, sum(cardinality(t.places)) over (order by t.priority, t.its_turn, t.first_n rows unbounded preceding) as upto
        from (select r.*, r.turn + {{.schema}}._gw_turn(r.round, null) as its_turn from rounds as r) as t
    ), fitting as materialized (
      select p.owner, p.turn, p.priority, p.its_turn, p.upto, p.places[:batch_size - p.upto::integer + cardinality(p.places)] as places
        from placed as p
       where p.upto - cardinality(p.places) < batch_size
    ), taken as (
      select f.owner, f.turn, sum(cardinality(f.places)) as jobs, max(f.priority) as priority from fitting as f group by f.owner, f.turn
    ), last as materialized (
      select f.upto, f.priority, f.its_turn from fitting as f order by f.upto desc limit 1
    )
    select array(select u.place
                   from fitting as f
                  cross join unnest(f.places) with ordinality as u (place, n)
                  order by f.upto, u.n),
           bool_or(t.jobs >= fair_jobs
                   and (l.upto < batch_size
                        or (t.priority, t.turn + {{.schema}}._gw_turn(t.jobs / quantum, null)) < (l.priority, l.its_turn)))
      into places, is_cut
      from taken as t
     cross join last as l;
    return;
  end if;
  with owning as materialized (
    select g.id, g.lanes, g.fair_lane, o.room, o.of_slot
      from unnest(group_ids, most_slots, of_slots) as o (id, room, of_slot)
      join {{.schema}}._gw_groups as g on g.id = o.id
  ), heads as (
    select h.place, h.owner, h.priority, h.run_at, h.turn, h.n, g.lanes, g.fair_lane, g.of_slot, g.room,
           row_number() over (partition by h.owner order by h.n) as of_group,
           (row_number() over (partition by g.fair_lane order by h.n) - 1) / quantum as round
      from unnest(heads, owners, priorities, run_ats, turns) with ordinality as h (place, owner, priority, run_at, turn, n)
      join owning as g on g.id = h.owner
  ), turning as materialized (
    select h.*, h.turn + {{.schema}}._gw_turn(h.round, null) as its_turn,
           case when h.turn is not null then min(h.n) over (partition by h.fair_lane, h.round, h.priority) else h.n end as first_n
      from heads as h
  ), merged as (
    select t.*, null::timestamptz as behind from turning as t where num_nulls(variadic turns) in (0, cardinality(turns))
    union all
    select t.*, max(t.run_at) over (partition by t.priority, t.turn is null order by t.its_turn, t.first_n, t.n)
      from turning as t
     where num_nulls(variadic turns) not in (0, cardinality(turns))
  ), numbered as materialized (
    select m.*, row_number() over (order by m.priority, m.behind, m.its_turn nulls first, m.first_n, m.n) as number
      from merged as m
  ), full_lanes as materialized ( -- the groups that get fewer slots because they share lanes
    select o.owner, min(o.of_group) - 1 as slots
      from (select n.owner, n.of_group, s.room, row_number() over (partition by s.lane order by n.number) as rank
              from (select s.lane, s.owners, r.room
                      from (select u.lane, array_agg(g.id) as owners
                              from owning as g
                             cross join unnest(g.lanes) as u (lane)
                             group by u.lane
                            having count(*) > 1) as s
                      join unnest(_gw_fitting_jobs.lanes, rooms) as r (lane, room) on r.lane = s.lane
                     where r.room is not null
                    offset 0) as s
             cross join unnest(s.owners) as u (owner)
              join numbered as n on n.owner = u.owner and n.of_group <= n.room) as o
     where o.rank > o.room
     group by o.owner
  ), fitting as materialized (
    select n.place, n.owner, n.number, n.priority, n.turn, n.its_turn, coalesce(f.slots, n.room) as slots
      from numbered as n
      left join full_lanes as f on f.owner = n.owner
     where (n.of_group > coalesce(f.slots, n.room) * n.of_slot) is not true
     order by n.number
     limit batch_size
  ), taken as (
    select f.owner, f.slots, count(*) as jobs, max(f.priority) as priority, f.turn from fitting as f group by f.owner, f.slots, f.turn
  ), last as materialized (
    select f.number, f.priority, f.its_turn from fitting as f order by f.number desc limit 1
  )
  select array(select f.place from fitting as f order by f.number), array_agg(t.owner), array_agg(t.slots),
         bool_or(t.jobs >= case when t.turn is null then most_jobs else fair_jobs end
                 and (t.turn is null or l.its_turn is null or (select count(*) from fitting) < batch_size
                      or (t.priority, t.turn + {{.schema}}._gw_turn(t.jobs / quantum, null)) < (l.priority, l.its_turn)))
    into places, groups, widths, is_cut
    from taken as t
   cross join last as l;
end;
$$;

comment on function {{.schema}}._gw_fitting_jobs(tid[], integer[], smallint[], timestamptz[], bigint[], integer[], integer[], integer[], integer[], integer[], boolean, integer, integer, integer, integer) is
  'Internal: returns those of the first jobs of groups that a claim may start, in the order of claims.';

-- Makes claims read the groups that these lanes have barred, as many as the lanes may start jobs. Lanes that open
-- later get a front for that time. Returns how many jobs each lane may start. The caller holds the locks of the lanes, from an
-- earlier statement.
create or replace function {{.schema}}._gw_open_lanes(
  lane_ids  integer[],
  at        timestamptz,
  out lanes integer[],
  out rooms integer[]
)
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
  ), opened as (
    update {{.schema}}._gw_fronts as f
       set barred_by = null
     where f.ctid = any (array(select w.ctid
                                 from lane as r
                                cross join lateral (
                                      (select w.ctid
                                         from {{.schema}}._gw_fronts as w
                                        where w.barred_by = r.lane_id and w.turn is null
                                        order by w.priority, w.run_at, w.job_id
                                        limit r.room)
                                      union all
                                      (select w.ctid
                                         from {{.schema}}._gw_fronts as w
                                        where w.barred_by = r.lane_id and w.turn is not null
                                        order by w.priority, w.turn, w.run_at, w.job_id
                                        limit r.room)) as w))
  ), closed as (
    insert into {{.schema}}._gw_fronts (lane_id, priority, run_at, job_id)
    select r.lane_id, 0, r.opens_at, 0
      from lane as r
     where r.room = 0 and r.opens_at is not null
  )
  select array_agg(r.lane_id), array_agg(r.room) into lanes, rooms from lane as r;
end;
$$;

comment on function {{.schema}}._gw_open_lanes(integer[], timestamptz) is
  'Internal: makes claims read the groups that these lanes have barred.';
