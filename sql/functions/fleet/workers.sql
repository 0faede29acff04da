-- Workers register themselves. A registered worker has to call heartbeat(), or it counts as dead.

create or replace function {{.schema}}.register_worker(
  worker_id   text,
  tasks       text[]  default '{}',
  concurrency integer default 1,
  host        text    default null,
  pid         integer default null,
  version     text    default null
)
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
