-- Returns the group of a job, for its job_queue_id; null if no limit applies to it. Creates the group and its lanes if
-- there are none. A limit with queues applies to jobs in these queues, which are then as wide as the limit; a limit without
-- queues to jobs without a queue. Jobs that lack the key of a limit, such as a flag tenant:42, are not limited by it.
-- The caller holds the name lock of the task, so that no change of limits is complete before its transaction ends. Above
-- READ COMMITTED the snapshot may be older than the limits; then 40001 is raised.
-- The function is security definer, because add_job runs with the rights of its caller.
-- Locks: new lanes and groups wait for other transactions that create the same ones, as new names do.
create or replace function {{.schema}}._gw_group(
  identifier text,
  queue_name text,
  flags      text[],
  payload    json
)
  returns integer
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
#variable_conflict use_variable
declare
  rule     record;
  lane_key text;
  lanes    integer[] := array[]::integer[];
  tasks    text[];
  group_id integer;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform from {{.schema}}._gw_limit_changes as c for share;
  end if;
  for rule in
    select i.id, i.tasks, i.by as lanes_by, i.total_running,
           i.max_running is not null or i.rate is not null or i.total_running is null as has_lanes
      from {{.schema}}._gw_limits as i
     where (i.tasks is null or identifier = any (i.tasks))
       and case when i.queues is null then queue_name is null
                else queue_name like {{.schema}}._gw_pattern(i.queues) escape '!' end
     order by i.id
  loop
    lane_key := case when rule.lanes_by is null then ''
                     when rule.lanes_by = 'queue' then queue_name
                     when rule.lanes_by like 'flag:%' then
                       (select substr(f.flag, length(rule.lanes_by) - 3)
                          from unnest(flags) as f (flag)
                         where starts_with(f.flag, substr(rule.lanes_by, 6) || ':')
                         order by f.flag
                         limit 1)
                     else {{.schema}}._gw_payload_field(payload, substr(rule.lanes_by, 9)) end;
    continue when lane_key is null;
    if length(lane_key) > 200 then
      lane_key := left(lane_key, 160) || md5(lane_key);
    end if;
    if rule.has_lanes then
      lanes := lanes || {{.schema}}._gw_lane(rule.id, case when rule.lanes_by is not null then lane_key end, false);
    end if;
    if rule.total_running is not null then
      lanes := lanes || {{.schema}}._gw_lane(rule.id, null, true);
    end if;
    tasks := case when tasks is null then rule.tasks
                  when rule.tasks is null then tasks
                  else array(select u.task from unnest(tasks) as u (task) where u.task = any (rule.tasks)) end;
  end loop;
  if lanes = '{}' then
    return null;
  end if;

  lanes := array(select u.lane from unnest(lanes) as u (lane) order by u.lane);
  loop
    select g.id into group_id
      from {{.schema}}._gw_groups as g
     where g.lanes = lanes and coalesce(g.queue_name, '') = coalesce(queue_name, '') and (g.queue_name is null) = (queue_name is null)
       and not g.is_retired;
    exit when found;
    insert into {{.schema}}._gw_groups (lanes, tasks, queue_name) values (lanes, tasks, queue_name) on conflict do nothing;
  end loop;
  return group_id;
end;
$$;

comment on function {{.schema}}._gw_group(text, text, text[], json) is
  'Internal: returns the group of a job to which limits apply; null if none does.';

-- Returns the id of a lane, and creates it if there is none.
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
    insert into {{.schema}}._gw_lanes (limit_id, key, is_total) values (limit_id, key, is_total) on conflict do nothing;
  end loop;
  return lane_id;
end;
$$;

comment on function {{.schema}}._gw_lane(integer, text, boolean) is
  'Internal: returns the id of a lane, and creates it if there is none.';

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
