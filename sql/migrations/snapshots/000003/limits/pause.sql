-- Pauses the jobs of a task, the jobs in a named queue, a limit, one lane of a limit, or everything: claims that begin after
-- the commit start none of them. Running jobs continue. A pause survives restarts; it ends with resume(), or at until.
-- A second pause of the same changes its reason, author and until.
-- The jobs of a paused task or queue are moved to a group, so claims do not read them: the first ten thousand by the call, others in
-- steps, as for a limit. Jobs of other tasks in a named queue continue to run, and overtake those of a paused task. If a pause of a
-- task ends at until, its jobs in named queues start with the next heartbeat of a worker.
-- Locks: the row of limits, so that only one transaction at a time changes them; then as _gw_move_first_jobs.
-- Raises GWLVA, GWLNM.
create or replace function {{.schema}}.pause(
  task       text        default null,
  queue      text        default null,
  limit_name text        default null,
  lane       text        default null,
  reason     text        default null,
  until      timestamptz default null
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  paused text;
begin
  if num_nonnulls(task, queue, limit_name) > 1 or lane is not null and limit_name is null then
    raise exception 'A pause applies to one task, one queue, one limit, one lane of a limit, or everything.' using errcode = 'GWLVA';
  elsif until <= clock_timestamp() then
    raise exception 'A pause must end in the future, not at %.', until using errcode = 'GWLVA';
  end if;
  update {{.schema}}._gw_limit_changes as c set changed_at = clock_timestamp();
  if limit_name is not null and not exists (select from {{.schema}}._gw_limits as i where i.name = limit_name) then
    raise exception 'There is no limit ''%''.', limit_name using errcode = 'GWLNM';
  end if;
  paused := coalesce('pause:task:' || task, 'pause:queue:' || queue, limit_name);
  delete from {{.schema}}._gw_pauses as p
   where (p.task, p.queue_name, p.limit_name, p.lane) is not distinct from (task, queue, paused, lane);
  insert into {{.schema}}._gw_pauses (task, queue_name, limit_name, lane, reason, until)
  values (task, queue, paused, lane, reason, until);

  if paused is null then
    -- A front without a group and a lane makes the next claim search.
    insert into {{.schema}}._gw_fronts (priority, run_at, job_id) values (0, '-infinity', 0);
  elsif task is not null or queue is not null then
    if not exists (select from {{.schema}}._gw_limits as i where i.name = paused) then
      perform {{.schema}}._gw_put_limit(
        paused, case when task is not null then array[task] end, queue, null, case when queue is not null then 1 end, null, null, null,
        null, false, null, true); -- the queue is serial again when the pause ends by itself
      if task is not null then
        perform {{.schema}}._gw_put_limit('pause:queued:' || task, array[task], '*', null, null, null, null, null, null, false, null, true);
      end if;
      perform {{.schema}}._gw_move_first_jobs(task, queue);
    end if;
  end if;
  -- Lanes that are full or closed open when the pause ends.
  perform {{.schema}}._gw_look_at_lanes(array(
    select l.id
      from {{.schema}}._gw_lanes as l
      join {{.schema}}._gw_limits as i on i.id = l.limit_id
     where i.name = paused and (lane is null or l.key = lane)));
  perform {{.schema}}._gw_record_act('pause', 0, {{.schema}}._gw_paused(task, queue, limit_name, lane) || coalesce(' until ' || until, '')
                                                 || coalesce(': ' || reason, ''));
end;
$$;

comment on function {{.schema}}.pause(text, text, text, text, text, timestamptz) is
  'Pauses a task, a named queue, a limit, one of its lanes, or everything, until resume() or until a time. Running jobs continue.';

-- Ends a pause: the same arguments as for pause(). Returns whether there was one.
-- Locks: the row of limits, so that only one transaction at a time changes them.
create or replace function {{.schema}}.resume(
  task       text default null,
  queue      text default null,
  limit_name text default null,
  lane       text default null
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  paused text := coalesce('pause:task:' || task, 'pause:queue:' || queue, limit_name);
begin
  update {{.schema}}._gw_limit_changes as c set changed_at = clock_timestamp();
  delete from {{.schema}}._gw_pauses as p
   where (p.task, p.queue_name, p.limit_name, p.lane) is not distinct from (task, queue, paused, lane);
  if not found then
    return false;
  end if;
  if task is not null or queue is not null then
    perform {{.schema}}._gw_drop_limit(i.name)
       from {{.schema}}._gw_limits as i
      where i.name in (paused, 'pause:queued:' || task);
    perform {{.schema}}._gw_move_first_jobs(task, queue);
  else
    perform {{.schema}}._gw_look_at_lanes(array(
      select l.id
        from {{.schema}}._gw_lanes as l
        join {{.schema}}._gw_limits as i on i.id = l.limit_id
       where i.name = paused and (lane is null or l.key = lane)));
  end if;
  perform {{.schema}}._gw_wake(1);
  perform {{.schema}}._gw_record_act('resume', 0, {{.schema}}._gw_paused(task, queue, limit_name, lane));
  return true;
end;
$$;

comment on function {{.schema}}.resume(text, text, text, text) is
  'Ends a pause of a task, a named queue, a limit, one of its lanes, or everything. Returns whether there was one.';

-- Returns what a pause applies to, as text for the audit.
create or replace function {{.schema}}._gw_paused(
  task       text,
  queue      text,
  limit_name text,
  lane       text
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce('task ' || _gw_paused.task, 'queue ' || _gw_paused.queue,
                  'limit ' || _gw_paused.limit_name || coalesce(', lane ' || _gw_paused.lane, ''), 'everything')
$$;

comment on function {{.schema}}._gw_paused(text, text, text, text) is
  'Internal: returns what a pause applies to, as text for the audit.';

-- Returns the pauses, the oldest first. Those that have ended by themselves are left out.
create or replace function {{.schema}}.list_pauses()
  returns table (
    task       text,
    queue      text,
    limit_name text,
    lane       text,
    reason     text,
    author     text,
    paused_at  timestamptz,
    until      timestamptz
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select p.task, p.queue_name, case when p.task is null and p.queue_name is null then p.limit_name end, p.lane, p.reason,
         p.author, p.paused_at, p.until
    from {{.schema}}._gw_pauses as p
   where coalesce(p.until, 'infinity') > clock_timestamp()
   order by p.id;
end;
$$;

comment on function {{.schema}}.list_pauses() is
  'Returns the pauses in force, the oldest first.';
