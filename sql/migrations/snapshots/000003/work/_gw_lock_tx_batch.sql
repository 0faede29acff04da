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
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
#variable_conflict use_column
declare
  recorded record := {{.schema}}._gw_recorded_batch(worker_id, slot, batch_size);
begin
  if recorded.jobs is not null then
    lease := {{.schema}}._gw_lease(clock_timestamp());
    return query
    select l.id, l.ctid::text, l.payload, l.priority, l.run_at, l.max_attempts, l.created_at, l.last_error, l.revision,
           _gw_lock_tx_batch.lease
      from (select j.id, j.ctid, j.payload, j.priority, j.run_at, j.max_attempts, j.created_at, j.last_error, j.revision
            {{ template "jobs of a batch" . }}) as l;
    if found then
      perform {{.schema}}._gw_limit_lock_waits();
    end if;
  end if;
end;
$$;

comment on function {{.schema}}._gw_lock_tx_batch(text, integer, integer, smallint, timestamptz, bigint) is
  'Internal, for workers: locks the next jobs of a task for a batch whose handlers are given the transaction.';
