-- Drains a worker: it claims no more jobs, and goes on with those that it has, from its next heartbeat on, until it
-- stops. drained false: it claims jobs again. Returns false if no such worker is registered. Only workers that send
-- heartbeats learn of it. Records the act for list_audit.
-- Locks: the row of the worker.
create or replace function {{.schema}}.drain_worker(
  worker_id text,
  drained   boolean default true
)
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  update {{.schema}}._gw_workers as w
     set drained_at = case when drain_worker.drained is not false then coalesce(w.drained_at, clock_timestamp()) end
   where w.id = drain_worker.worker_id;
  if not found then
    return false;
  end if;
  perform {{.schema}}._gw_record_act(case when drain_worker.drained is not false then 'drain' else 'undrain' end, 0,
                                     drain_worker.worker_id);
  return true;
end;
$$;

comment on function {{.schema}}.drain_worker(text, boolean) is
  'Drains a worker: from its next heartbeat on it claims no more jobs and goes on with those that it has. drained false: it claims jobs again. Returns false if no such worker is registered.';
