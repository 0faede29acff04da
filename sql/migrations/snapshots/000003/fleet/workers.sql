-- Workers register themselves. A registered worker has to call heartbeat(), or it counts as dead.

create or replace function {{.schema}}.register_worker(
  worker_id text, tasks text[] default '{}', concurrency integer default 1, host text default null,
  pid integer default null, version text default null)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_worker_id(worker_id);
  if coalesce(concurrency, 0) < 1 then
    raise exception 'Concurrency must be at least 1, not %.', coalesce(concurrency::text, 'null') using errcode = 'GWWCO';
  end if;
  -- The tasks are stored as a one-dimensional array without nulls, as its readers expect.
  insert into {{.schema}}._gw_workers as w (id, tasks, concurrency, host, pid, version)
  values (worker_id, array(select t.name from unnest(register_worker.tasks) as t (name) where t.name is not null),
          register_worker.concurrency, register_worker.host, register_worker.pid, register_worker.version)
      on conflict (id) do update
     set last_seen_at = clock_timestamp(), beating_since = clock_timestamp(), recovered_at = null,
         tasks = excluded.tasks, concurrency = excluded.concurrency, host = excluded.host, pid = excluded.pid,
         version = excluded.version;
end;
$$;

comment on function {{.schema}}.register_worker(text, text[], integer, text, integer, text) is
  'Registers a worker: the tasks it runs, its concurrency, its host, process id and version. From then on the worker has to call heartbeat. Registering again updates these values.';

create or replace function {{.schema}}.deregister_worker(worker_id text)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  delete from {{.schema}}._gw_sleepers as s where s.worker_id = deregister_worker.worker_id;
  delete from {{.schema}}._gw_workers as w where w.id = worker_id;
  return found;
end;
$$;

comment on function {{.schema}}.deregister_worker(text) is
  'Removes the registration of a worker that has stopped. Returns false if it was not registered.';

-- Drains a worker: it claims no more jobs, and goes on with those that it has, from its next heartbeat on, until it stops. drained
-- false: it claims jobs again. Returns false if no such worker is registered. Only workers that send heartbeats learn of it.
-- Records the act for list_audit.
-- Locks: the row of the worker.
create or replace function {{.schema}}.drain_worker(worker_id text, drained boolean default true)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update {{.schema}}._gw_workers as w
     set drained_at = case when drain_worker.drained is not false then coalesce(w.drained_at, clock_timestamp()) end
   where w.id = drain_worker.worker_id;
  if not found then
    return false;
  end if;
  perform {{.schema}}._gw_record_act(case when drain_worker.drained is not false then 'drain' else 'undrain' end, 0, drain_worker.worker_id);
  return true;
end;
$$;

comment on function {{.schema}}.drain_worker(text, boolean) is
  'Drains a worker: from its next heartbeat on it claims no more jobs and goes on with those that it has. drained false: it claims jobs again. Returns false if no such worker is registered.';
