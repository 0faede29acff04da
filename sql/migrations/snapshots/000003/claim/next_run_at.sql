-- Returns the place where a claim of these tasks in the same statement has found the first job without a queue, if it has searched
-- from the beginning of the index; else the beginning.
create or replace function {{.schema}}._gw_looked_place(task_ids integer[])
  returns {{.schema}}._gw_place language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  setting text := current_setting('gw.claim_looked', true);
  looked  bigint[];
begin
  if setting ~ '^[{](-?[0-9]+,){4}[0-9]+[}]$' and setting !~ '[0-9]{18}' then
    looked := setting::bigint[];
    if looked[1] = {{.schema}}._gw_cursor_scope(row(null, task_ids, null, null, null, null, null, null, null, null)::{{.schema}}._gw_claim)
       and looked[2] = {{.schema}}._gw_lease(statement_timestamp()) then
      return row(looked[3]::smallint, {{.schema}}._gw_locked_at(looked[4]), looked[5], null)::{{.schema}}._gw_place;
    end if;
  end if;
  return row(-32768, '-infinity', 0, null)::{{.schema}}._gw_place;
end;
$$;

comment on function {{.schema}}._gw_looked_place(integer[]) is
  'Internal, for next_run_at: returns the place where a claim in the same statement has found the first job without a queue.';

-- Returns the earliest run_at after now() of a job of these tasks without limits, or the one where the search ended, after so many
-- entries of a priority, and whether it is of these tasks.
create or replace function {{.schema}}._gw_next_due(
  task_ids integer[], from_place {{.schema}}._gw_place, entries integer, out run_at timestamptz, out is_ours boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp -- next_run_at sets the planner options
as $$
#variable_conflict use_column
begin
  with recursive priorities (priority, number) as (
    select least((select j.priority
                   from {{.schema}}._private_jobs as j
                  where j.is_available and j.job_queue_id is null
                    and (j.priority, j.run_at, j.id) >= (from_place.priority, from_place.run_at, from_place.id)
                  order by j.priority, j.run_at, j.id
                  limit 1),
                 (select j.priority
                   from {{.schema}}._private_jobs as j
                  where j.is_available and j.job_queue_id > 0
                  order by j.priority
                  limit 1)), 1
    union all
    select least((select j.priority
                   from {{.schema}}._private_jobs as j
                  where j.is_available and j.job_queue_id is null and j.priority > p.priority
                  order by j.priority
                  limit 1),
                 (select j.priority
                   from {{.schema}}._private_jobs as j
                  where j.is_available and j.job_queue_id > 0 and j.priority > p.priority
                  order by j.priority
                  limit 1)), p.number + 1
      from priorities as p
     where p.priority is not null and p.number < 500
  )
  select n.run_at, n.is_ours
    into run_at, is_ours
    from (select coalesce(s.ours, s.ending) as run_at, s.ours is not null as is_ours
            from priorities as p
           cross join lateral (
                  -- The first job of our tasks, or the entry where the search ended.
                  select min(j.run_at) filter (where (j.task_id = any (task_ids)) is not false) as ours,
                         case when count(*) = entries then max(j.run_at) end as ending
                    from ((select false as queued, j.run_at, j.task_id
                             from {{.schema}}._private_jobs as j
                            where j.is_available and j.job_queue_id is null
                              and j.priority = p.priority and j.run_at > now() and j.run_at < 'infinity'
                            order by j.run_at
                            limit entries)
                          union all
                          (select true as queued, j.run_at, j.task_id
                             from {{.schema}}._private_jobs as j
                            where j.is_available and j.job_queue_id > 0
                              and j.priority = p.priority and j.run_at > now() and j.run_at < 'infinity'
                            order by j.run_at
                            limit entries)) as j
                   group by j.queued) as s
          union all
          select now() + interval '0.5 seconds', true
            from priorities as p
           where p.number = 500 and p.priority is not null) as n
   where n.run_at is not null
   order by n.run_at
   limit 1;
end;
$$;

comment on function {{.schema}}._gw_next_due(integer[], {{.schema}}._gw_place, integer) is
  'Internal, for next_run_at: returns the earliest run_at after now() of a job of these tasks, or where the search ended.';

-- Returns when to search again: the earliest run_at after now() of a job that may be claimed then; null if there is
-- none. The result may be too early, never too late. The function ignores whether a named queue is free. It reads past
-- jobs of other tasks for 50 index entries only, or for 5000 if those are due within a second; otherwise many jobs of
-- other tasks would wake a worker once for every 50 of them. It needs a few index probes for each distinct priority, up
-- to 500 priorities. For less urgent priorities it assumes that a job is due in half a second. A run_at of infinity
-- does not count, so the result is finite.
-- If a claim in the same statement has searched from the beginning of the index, the search begins where that claim found
-- the first job; see _gw_claim_cursor. The entries before it are many.
-- If the last empty claim of this session has not searched in front of its cursor, the result is not later than when a claim
-- will: a job that has become ready there, such as one that a worker has returned, must not wait for another notification.
-- Jobs with limits count from when claims may start them, and paused ones from the end of the pause.
create or replace function {{.schema}}.next_run_at(
  task_identifiers text[] default null
)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan -- because of the limit
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  task_ids   integer[];
  first      record;
  from_place {{.schema}}._gw_place;
  look_at    timestamptz;
begin
  if task_identifiers is not null then
    task_ids := array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers) order by t.id);
  end if;
  from_place := {{.schema}}._gw_looked_place(task_ids);
  if current_setting('gw.claim_look_at', true) ~ '^[0-9]{1,17}$' then
    look_at := {{.schema}}._gw_locked_at(current_setting('gw.claim_look_at')::bigint);
    look_at := case when look_at > now() - interval '1 second' then greatest(look_at, now()) end; -- earlier: of no recent claim
  end if;
  for entries in 50 .. 5000 by 4950 loop
    first := {{.schema}}._gw_next_due(task_ids, from_place, entries);
    exit when first.is_ours is not false or first.run_at > now() + interval '1 second';
  end loop;
  if {{.schema}}._gw_has_limits() or exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = -1) then
    return least(look_at, first.run_at, {{.schema}}._gw_next_pause_end(), {{.schema}}._gw_next_limited_at({{.schema}}._gw_served_tasks(
                   row(null, task_ids, null, null, null, null, clock_timestamp(), null, null, null)::{{.schema}}._gw_claim)));
  end if;
  return least(look_at, first.run_at);
end;
$$;

comment on function {{.schema}}.next_run_at(text[]) is
  'Returns the earliest run_at after now() of a waiting job of these tasks (all if null); null if there is none. A run_at of infinity does not count. The result may be too early, never too late.';
