-- Returns the groups of jobs, for their job_queue_id, in the order of the specs: null where no limit applies, and no array if
-- no limit applies to any job. Creates missing groups and lanes. A limit with queues applies to jobs in these queues, which
-- then run as many jobs at once as the limit allows; a limit without queues applies to jobs without a queue. A limit does not
-- apply to jobs that lack its key, such as a flag tenant:42.
-- The caller holds the name locks of the tasks, so that no change of limits is complete before its transaction ends. Above
-- READ COMMITTED the snapshot may be older than the limits; then 40001 is raised.
-- The function is security definer, because add_job runs with the rights of its caller.
-- Locks: new lanes in sorted order, then new groups in sorted order; they wait for other transactions that create the same
-- ones, as new names do. So calls with the same keys in a different order wait for each other but do not deadlock.
create or replace function {{.schema}}._gw_groups_of(
  specs {{.schema}}.job_spec[]
)
  returns integer[]
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  numbers   integer[]; -- of specs; an element for each lane of each spec, as in the next three
  limit_ids integer[];
  keys      text[];
  totals    boolean[];
  lane_ids  integer[];
  groups    integer[];
  is_done   boolean;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform from {{.schema}}._gw_limit_changes as c for share;
  end if;
  select array_agg(s.number), array_agg(i.id), array_agg(l.key), array_agg(l.is_total)
    into numbers, limit_ids, keys, totals
    from unnest(specs) with ordinality
      as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
    join {{.schema}}._gw_limits as i
      on (i.tasks is null or s.identifier = any (i.tasks))
     and case when i.queues is null then s.queue_name is null
              else s.queue_name like {{.schema}}._gw_pattern(i.queues) escape '!' end
   cross join lateral (
          select case when i.by is null then ''
                      when i.by = 'queue' then s.queue_name
                      when i.by like 'flag:%' then
                        (select substr(f.flag, length(i.by) - 3)
                           from unnest(s.flags) as f (flag)
                          where starts_with(f.flag, substr(i.by, 6) || ':')
                          order by f.flag
                          limit 1)
                      else {{.schema}}._gw_payload_field(s.payload, substr(i.by, 9)) end as key) as k
   cross join lateral (
          select case when i.by is null then null
                      when length(k.key) > 200 then left(k.key, 160) || md5(k.key)
                      else k.key end as key,
                 false as is_total
           where i.max_running is not null or i.rate is not null or i.total_running is null or i.fair
          union all
          select null, true where i.total_running is not null) as l
   where k.key is not null;
  if numbers is null then
    return null;
  end if;

  loop
    select array_agg(l.id order by w.number), count(l.id) = count(*)
      into lane_ids, is_done
      from unnest(limit_ids, keys, totals) with ordinality as w (limit_id, key, is_total, number)
      left join lateral (
             select l.id
               from {{.schema}}._gw_lanes as l
              where l.limit_id = w.limit_id and l.is_total = w.is_total and coalesce(l.key, '') = coalesce(w.key, '')
                and (l.key is null) = (w.key is null)
             offset 0) as l on true;
    exit when is_done;
    insert into {{.schema}}._gw_lanes (limit_id, key, is_total, turn, served_at)
    select distinct w.limit_id, w.key collate "C", w.is_total, n.turn, case when n.turn is null then now() end
      from unnest(lane_ids, limit_ids, keys, totals) as w (lane_id, limit_id, key, is_total)
     cross join lateral (
            select (select 0 from {{.schema}}._gw_limits as i where i.id = w.limit_id and i.fair and not w.is_total) as turn offset 0) as n
     where w.lane_id is null
     order by w.limit_id, w.is_total, w.key collate "C"
        on conflict do nothing;
  end loop;

  loop
    select array_agg(g.id order by s.number), count(g.id) = count(n.lanes)
      into groups, is_done
      from unnest(specs) with ordinality
        as s (identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, number)
      left join (select w.number, array_agg(w.lane order by w.lane) as lanes
                   from unnest(numbers, lane_ids) as w (number, lane)
                  group by w.number) as n on n.number = s.number
      left join lateral (
             select g.id
               from {{.schema}}._gw_groups as g
              where g.lanes = n.lanes and coalesce(g.queue_name, '') = coalesce(s.queue_name, '')
                and (g.queue_name is null) = (s.queue_name is null) and not g.is_retired
             offset 0) as g on true;
    exit when is_done;
    with added as (
      insert into {{.schema}}._gw_groups (lanes, tasks, queue_name, fair_lane)
      select n.lanes,
             -- The tasks that all these limits have; null if each is of all tasks.
             (select case when count(i.tasks) > 0 then
                       array(select t.task
                               from (select distinct u.task
                                       from {{.schema}}._gw_limits as j
                                      cross join unnest(j.tasks) as u (task)
                                      where j.id = any (n.limit_ids)) as t
                              where not exists (select from {{.schema}}._gw_limits as j
                                                 where j.id = any (n.limit_ids) and t.task <> all (j.tasks))
                              order by t.task)
                     end
                from {{.schema}}._gw_limits as i
               where i.id = any (n.limit_ids)),
             n.queue_name,
             (select l.id from {{.schema}}._gw_lanes as l where l.id = any (n.lanes) and l.turn is not null order by l.limit_id limit 1)
        from (select distinct w.lanes, w.limit_ids, s.queue_name
                from (select w.number, array_agg(w.lane order by w.lane) as lanes,
                             array_agg(distinct w.limit_id) as limit_ids
                        from unnest(numbers, lane_ids, limit_ids) as w (number, lane, limit_id)
                       group by w.number) as w
               cross join lateral (select (specs[w.number]).queue_name) as s
               where groups[w.number] is null) as n
       order by n.lanes, n.queue_name collate "C"
          on conflict do nothing
      returning id, lanes
    )
    insert into {{.schema}}._gw_group_lanes (lane_id, group_id)
    select u.lane, a.id from added as a cross join unnest(a.lanes) as u (lane);
  end loop;
  return groups;
end;
$$;

comment on function {{.schema}}._gw_groups_of({{.schema}}.job_spec[]) is
  'Internal: returns the groups of jobs to which limits apply; null where none does.';

-- Returns the id of a lane, and creates the lane if it is missing.
create or replace function {{.schema}}._gw_lane(
  limit_id integer,
  key      text,
  is_total boolean
)
  returns integer
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
#variable_conflict use_variable
declare
  lane_id integer;
begin
  loop
    select l.id into lane_id
      from {{.schema}}._gw_lanes as l
     where l.limit_id = limit_id and l.is_total = is_total and coalesce(l.key, '') = coalesce(key, '')
       and (l.key is null) = (key is null);
    exit when found;
    insert into {{.schema}}._gw_lanes (limit_id, key, is_total, turn, served_at)
    select limit_id, key, is_total, n.turn, case when n.turn is null then now() end
      from (select (select 0 from {{.schema}}._gw_limits as i where i.id = limit_id and i.fair and not is_total) as turn) as n
        on conflict do nothing;
  end loop;
  return lane_id;
end;
$$;

comment on function {{.schema}}._gw_lane(integer, text, boolean) is
  'Internal: returns the id of a lane, and creates the lane if it is missing.';

-- Returns the names of the queues of the groups of these jobs, by the ids of the groups; null if none has a queue. Claims call
-- this function because a subquery in its place would open the table of groups for each claim of queued jobs, also without
-- limits.
create or replace function {{.schema}}._gw_queues_of_groups(
  places tid[]
)
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return (select jsonb_object_agg(g.id, g.queue_name)
            from {{.schema}}._gw_groups as g
           where g.id = any (array(select j.job_queue_id from {{.schema}}._private_jobs as j where j.ctid = any (places)))
             and g.queue_name is not null);
end;
$$;

comment on function {{.schema}}._gw_queues_of_groups(tid[]) is
  'Internal: returns the names of the queues of the groups of these jobs, by the ids of the groups.';

-- Returns a pattern of LIKE, with ! as its escape character, for a name that may have * in it.
create or replace function {{.schema}}._gw_pattern(
  name text
)
  returns text
  language sql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
  select replace(replace(replace(replace(name, '!', '!!'), '%', '!%'), '_', '!_'), '*', '%')
$$;

comment on function {{.schema}}._gw_pattern(text) is
  'Internal: returns a pattern of LIKE, with ! as its escape character, for a name that may have * in it.';

-- Returns a field of a payload as text; null if there is none or if it cannot be read.
create or replace function {{.schema}}._gw_payload_field(
  payload json,
  field   text
)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return payload ->> field;
exception when others then
  return null; -- such as \u0000
end;
$$;

comment on function {{.schema}}._gw_payload_field(json, text) is
  'Internal: returns a field of a payload as text; null if there is none or if it cannot be read.';
