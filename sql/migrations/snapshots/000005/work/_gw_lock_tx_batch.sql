-- Begins a batch of jobs that a worker runs in this transaction, which it gives to their handlers: locks the next due
-- jobs of the task, as _gw_lock_batch does, and returns them in their order. The worker ends the batch with
-- _gw_end_tx_batch.
-- slot: see _gw_begin_batches, which the worker calls before. place: identifies the row for _gw_end_tx_batch. lease: when
-- the batch began, as in a claim; a job that does not complete is then claimed with this lease.
-- Locks: the jobs; skips rows that other transactions have locked. Sets lock_timeout for the rest of the transaction.
-- Raises GWWBI above READ COMMITTED.
create or replace function {{.schema}}._gw_lock_tx_batch(
  worker_id     text,
  slot          integer,
  batch_size    integer,
  from_priority smallint    default null,
  from_run_at   timestamptz default null,
  from_id       bigint      default null
)
  returns table (
    id           bigint,
    place        text,
    payload      json,
    priority     smallint,
    run_at       timestamptz,
    max_attempts smallint,
    created_at   timestamptz,
    last_error   text,
    revision     integer,
    lease        bigint
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  batch record;
begin
  lease := {{.schema}}._gw_lease(clock_timestamp());
  batch := {{.schema}}._gw_lock_batch(worker_id, slot, batch_size, true, from_priority, from_run_at, from_id);
  if batch.ids is null then
    return;
  end if;
  perform {{.schema}}._gw_limit_lock_waits();
  return query
  select u.id, u.place::text, u.payload, u.priority, u.run_at, u.max_attempts, u.created_at, u.last_error, u.revision,
         _gw_lock_tx_batch.lease
    from unnest(batch.ids, batch.places, batch.payloads, batch.priorities, batch.run_ats, batch.max_attempts, batch.created_ats,
                batch.last_errors, batch.revisions)
      as u (id, place, payload, priority, run_at, max_attempts, created_at, last_error, revision);
end;
$$;

comment on function {{.schema}}._gw_lock_tx_batch(text, integer, integer, smallint, timestamptz, bigint) is
  'Internal, for workers: locks the next jobs of a task for a batch whose handlers are given the transaction.';
