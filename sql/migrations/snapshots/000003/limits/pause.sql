-- Pauses the jobs of a task, the jobs in a named queue, a limit, one lane of a limit, or everything: claims that begin
-- after the commit start none of them. Running jobs continue. A pause survives restarts; it ends with resume(), or at
-- until. The author of the pause is the role of the session; if the program sets gw.actor, this user with the role.
-- A second pause of the same changes its reason, author and until.
-- A paused queue is locked by 'pause', which no worker may be called, so that Node workers leave it alone, too. In a
-- queue, jobs of other tasks overtake those of a paused task.
-- Locks: what _gw_change_limits locks; the row of the queue, and so waits for the end or claim that holds it; if the
-- call replaces a pause, what _gw_look_after_pause locks.
-- Raises GWLVA, GWLNM, GWLHB.
create or replace function {{.schema}}.pause(
  task       text        default null,
  queue      text        default null,
  limit_name text        default null,
  lane       text        default null,
  reason     text        default null,
  until      timestamptz default null
)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  replaced boolean;
begin
  if num_nonnulls(task, queue, limit_name) > 1 or lane is not null and limit_name is null then
    raise exception 'A pause applies to one task, one queue, one limit, one lane of a limit, or everything.' using errcode = 'GWLVA';
  elsif until <= clock_timestamp() then
    raise exception 'A pause must end in the future, not at %.', until using errcode = 'GWLVA';
  elsif length(queue) > 128 then
    raise exception 'The name of a queue has at most 128 characters, not %.', length(queue) using errcode = 'GWLVA';
  end if;
  perform {{.schema}}._gw_change_limits();
  if limit_name is not null and not exists (select from {{.schema}}._gw_limits as i where i.name = limit_name) then
    raise exception 'There is no limit ''%''.', limit_name using errcode = 'GWLNM';
  end if;
  insert into {{.schema}}._private_job_queues (queue_name) select queue where queue is not null
      on conflict (queue_name) do update set queue_name = excluded.queue_name;
  delete from {{.schema}}._gw_pauses as p
   where (p.task, p.queue_name, p.limit_name, p.key) is not distinct from (task, queue, limit_name, lane);
  replaced := found;
  insert into {{.schema}}._gw_pauses (task, queue_name, limit_name, key, reason, author, until)
  values (task, queue, limit_name, lane, reason,
          coalesce(left(nullif(current_setting('gw.actor', true), ''), 200) || ' (role ' || session_user || ')', session_user), until);
  if queue is not null then
    perform {{.schema}}._gw_take_paused(array(select q.id from {{.schema}}._private_job_queues as q where q.queue_name = queue));
  elsif replaced then -- it may end earlier
    perform {{.schema}}._gw_look_after_pause(task, limit_name);
  end if;
  perform {{.schema}}._gw_hide_jobs() where task is not null;
  perform {{.schema}}._gw_record_act('pause', 0, {{.schema}}._gw_paused(task, queue, limit_name, lane) || coalesce(' until ' || until, '')
                                                 || coalesce(': ' || reason, ''));
end;
$$;

comment on function {{.schema}}.pause(text, text, text, text, text, timestamptz) is
  'Pauses a task, a named queue, a limit, one of its lanes, or everything, until resume() or until a time. Running jobs continue.';

-- Ends a pause: the same arguments as for pause(). Returns whether there was one.
-- Locks: as pause.
-- Raises GWLHB.
create or replace function {{.schema}}.resume(
  task       text default null,
  queue      text default null,
  limit_name text default null,
  lane       text default null
)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
begin
  perform {{.schema}}._gw_change_limits();
  insert into {{.schema}}._private_job_queues (queue_name) select p.queue_name from {{.schema}}._gw_pauses as p where p.queue_name = queue
      on conflict (queue_name) do update set queue_name = excluded.queue_name;
  delete from {{.schema}}._gw_pauses as p
   where (p.task, p.queue_name, p.limit_name, p.key) is not distinct from (task, queue, limit_name, lane);
  if not found then
    return false;
  end if;
  if queue is not null then
    update {{.schema}}._private_job_queues as q set locked_by = null, locked_at = null where q.queue_name = queue and q.locked_by = 'pause';
  else
    perform {{.schema}}._gw_look_after_pause(task, limit_name);
    perform {{.schema}}._gw_hide_jobs() where task is not null;
  end if;
  perform {{.schema}}._gw_record_act('resume', 0, {{.schema}}._gw_paused(task, queue, limit_name, lane));
  return true;
end;
$$;

comment on function {{.schema}}.resume(text, text, text, text) is
  'Ends a pause of a task, a named queue, a limit, one of its lanes, or everything. Returns whether there was one.';

-- Makes claims look again at the gates of the limits of the task, or of the limit and those that share a task with it:
-- lanes may wait for them that a pause has held back. A claim that began before does not know the change, so the
-- function waits until no claim holds the limits.
-- Locks: what _gw_lock_limits locks.
-- Raises GWLHB.
create or replace function {{.schema}}._gw_look_after_pause(task text, limit_name text)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  tasks text[]; -- null: all
begin
  if num_nonnulls(task, limit_name) > 0 then
    tasks := case when task is not null then array[task] else (select i.tasks from {{.schema}}._gw_limits as i where i.name = limit_name) end;
    perform {{.schema}}._gw_lock_limits(tasks);
  end if;
  perform {{.schema}}._gw_look_at_limits(
    array(select l.id from {{.schema}}._gw_limits as l where num_nonnulls(task, limit_name) > 0 and (l.tasks && tasks) is not false));
end;
$$;

comment on function {{.schema}}._gw_look_after_pause(text, text) is 'Internal: makes claims look again at the gates of the limits of the task, or of the limit and those that share a task with it: lanes may wait for them that a pause has held back.';

-- Returns what a pause applies to, as text for the audit.
create or replace function {{.schema}}._gw_paused(task text, queue text, limit_name text, lane text)
  returns text language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce('task ' || _gw_paused.task, 'queue ' || _gw_paused.queue,
                  'limit ' || _gw_paused.limit_name || coalesce(', lane ' || _gw_paused.lane, ''), 'everything')
$$;

comment on function {{.schema}}._gw_paused(text, text, text, text) is 'Internal: returns what a pause applies to, as text for the audit.';
