-- Returns the earliest run_at after now() of a job of these tasks without limits, or the one where the search ended,
-- after so many entries of a priority, and whether it is of these tasks. from_place: of the first job without a queue.
create or replace function {{.schema}}._gw_next_due(
  task_ids integer[], from_place {{.schema}}._gw_place, entries integer, out run_at timestamptz, out is_ours boolean)
  language plpgsql stable set search_path = pg_catalog, pg_temp -- next_run_at sets the planner options
as $$
#variable_conflict use_column
declare
  place {{.schema}}._gw_place := from_place; -- where the search for the next priority begins
  level integer;
  due   record;
begin
  for step in 1 .. 500 loop
    select least((select j.priority
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id is null and (j.priority, j.run_at, j.id) >= (place.priority, place.run_at, place.id)
                   order by j.priority, j.run_at, j.id
                   limit 1),
                 (select j.priority
                    from {{.schema}}._private_jobs as j
                   where j.is_available and j.job_queue_id > 0 and j.priority >= coalesce(level + 1, -32768)
                   order by j.priority
                   limit 1))
      into level;
    if level is null then
      return;
    end if;
    select s.at, s.is_ours into due
      from (select coalesce(min(j.run_at) filter (where (j.task_id = any (task_ids)) is not false),
                            case when count(*) = entries then max(j.run_at) end) as at, -- the entry where the search ended
                   coalesce(bool_or((j.task_id = any (task_ids)) is not false), false) as is_ours
              from ((select false as queued, j.run_at, j.task_id
                       from {{.schema}}._private_jobs as j
                      where j.is_available and j.job_queue_id is null and j.priority = level and j.run_at > now() and j.run_at < 'infinity'
                      order by j.run_at
                      limit entries)
                    union all
                    (select true as queued, j.run_at, j.task_id
                       from {{.schema}}._private_jobs as j
                      where j.is_available and j.job_queue_id > 0 and j.priority = level and j.run_at > now() and j.run_at < 'infinity'
                      order by j.run_at
                      limit entries)) as j
             group by j.queued) as s
     where s.at is not null
     order by s.at
     limit 1;
    if due.at < run_at or run_at is null then
      run_at := due.at;
      is_ours := due.is_ours;
    end if;
    if level = 32767 then
      return;
    end if;
    place := greatest(from_place, row(level + 1, '-infinity', 0, null)::{{.schema}}._gw_place);
  end loop;
  if run_at is null or run_at > now() + interval '0.5 seconds' then
    run_at := now() + interval '0.5 seconds';
    is_ours := true;
  end if;
end;
$$;

comment on function {{.schema}}._gw_next_due(integer[], {{.schema}}._gw_place, integer) is 'Internal: returns the earliest run_at after now() of a job of these tasks without limits, or the one where the search ended, after so many entries of a priority, and whether it is of these tasks.';

-- Returns when to search again: the earliest run_at after now() of a job that may be claimed then; null if there is
-- none. The result may be too early, never too late. The function ignores whether a named queue is free. It reads past
-- jobs of other tasks for 50 index entries only, or for 5000 if those are due within a second; otherwise many jobs of
-- other tasks would wake a worker once for every 50 of them. It needs a few index probes for each distinct priority, up
-- to 500 priorities. For less urgent priorities it assumes that a job is due in half a second. A run_at of infinity
-- does not count, so the result is finite.
-- The search begins at the claim cursor if a claim in the same statement has set it by a search from the beginning: the
-- entries before it are many. If the last claim of this session found nothing and has not searched in front of its
-- cursor, the result is not later than when a claim will: a job that has become ready there, such as one that a worker
-- has returned, must not wait for another notification. Jobs with limits count from when claims may start them, and
-- paused ones from the end of the pause.
create or replace function {{.schema}}.next_run_at(task_identifiers text[] default null)
  returns timestamptz language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan -- because of the limit
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  task_ids   integer[];
  first      record;
  from_place {{.schema}}._gw_place := row(-32768, '-infinity', 0, null);
  cursor     bigint[] := {{.schema}}._gw_session_cursor();
  look_at    timestamptz;
begin
  if task_identifiers is not null then
    task_ids := array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers) order by t.id);
  end if;
  if cursor[8] = 0 then
    look_at := case when {{.schema}}._gw_locked_at(cursor[3]) > now() - interval '1 second' -- earlier: of no recent claim
                    then greatest({{.schema}}._gw_locked_at(cursor[3]), now()) end;
  elsif cursor[7] between {{.schema}}._gw_lease(statement_timestamp()) and {{.schema}}._gw_lease(clock_timestamp())
        and cursor[1] = {{.schema}}._gw_cursor_scope(row(null, task_ids, null, null, null, null, null, null, null)::{{.schema}}._gw_claim) then
    from_place := {{.schema}}._gw_cursor_place(cursor);
  end if;
  for entries in 50 .. 5000 by 4950 loop
    first := {{.schema}}._gw_next_due(task_ids, from_place, entries);
    exit when first.is_ours is not false or first.run_at > now() + interval '1 second';
  end loop;
  if {{.schema}}._gw_has_limits()
     or (select true from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = -1 order by j.task_id limit 1) then -- by _gw_incoming_jobs
    return least(look_at, first.run_at, {{.schema}}._gw_next_limited_at({{.schema}}._gw_served_tasks(
                   row(null, task_ids, null, null, null, clock_timestamp(), null, null, null)::{{.schema}}._gw_claim)),
                 (select min(p.until) from {{.schema}}._gw_pauses as p where p.until > clock_timestamp() and p.until < 'infinity'));
  end if;
  return least(look_at, first.run_at);
end;
$$;

comment on function {{.schema}}.next_run_at(text[]) is
  'Returns the earliest run_at after now() of a waiting job of these tasks (all if null); null if there is none. A run_at of infinity does not count. The result may be too early, never too late.';
