-- A batch is a transaction that locks jobs, runs them and deletes them, without claiming them: they are held by its row
-- locks. Its worker records before the first one how many jobs a batch may have, because a crash leaves nothing else.

-- Records that a worker begins to run batches of up to so many jobs of a task, one after the other. slot distinguishes the
-- batches that the worker runs at the same time. Call it in a transaction of its own.
-- is_first: the worker has run no batch in this slot since it started, so a record belongs to an earlier worker with the
-- same id, which died; the jobs of its batch become suspects.
-- Returns false if the worker is not registered: then nobody would notice its death, and it must not run batches.
-- Locks: the worker's row, its record.
create or replace function {{.schema}}._gw_begin_batches(
  worker_id       text,
  slot            integer,
  task_identifier text,
  jobs            integer,
  is_first        boolean default false
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
begin
  -- Its recovery would delete the record; it ends before this row is locked, or begins after this commit.
  perform from {{.schema}}._gw_workers as w where w.id = worker_id for key share;
  if not found then
    return false;
  end if;
  if is_first then
    perform {{.schema}}._gw_suspect_batches(array[worker_id], slot);
  end if;
  insert into {{.schema}}._gw_batches as b (worker_id, slot, task_id, jobs)
  select _gw_begin_batches.worker_id, _gw_begin_batches.slot, t.id, _gw_begin_batches.jobs
    from {{.schema}}._private_tasks as t
   where t.identifier = task_identifier
      on conflict on constraint _gw_batches_pkey do update set task_id = excluded.task_id, jobs = excluded.jobs;
  return found;
end;
$$;

comment on function {{.schema}}._gw_begin_batches(text, integer, text, integer, boolean) is
  'Internal, for workers: records that a worker begins to run batches of up to so many jobs of a task. Returns false if the worker is not registered.';

-- Records that a worker has ended its batches in these slots.
-- Locks: the records.
create or replace function {{.schema}}._gw_leave_batches(
  worker_id text,
  slots     integer[]
)
  returns void
  language sql
  set search_path = pg_catalog, pg_temp
as $$
  delete from {{.schema}}._gw_batches as b where b.worker_id = _gw_leave_batches.worker_id and b.slot = any (slots)
$$;

comment on function {{.schema}}._gw_leave_batches(text, integer[]) is
  'Internal, for workers: records that a worker has ended its batches.';

-- Deletes the records of dead workers. The jobs that a batch of theirs may have been running become suspects, because any of
-- them may have crashed the worker: the next ones of the task, as many as a batch had. They were not claimed, so no attempt
-- counts. With slot, only the record of that slot. There are at most 10 000 suspects; beyond that, jobs run as usual.
-- Locks: the records; the jobs, in the order in which they run, skipping locked ones.
create or replace function {{.schema}}._gw_suspect_batches(
  dead text[],
  slot integer default null
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  batches record;
begin
  for batches in
    with gone as (
      delete from {{.schema}}._gw_batches as b
       where b.worker_id = any (dead) and (b.slot = _gw_suspect_batches.slot or _gw_suspect_batches.slot is null)
      returning b.task_id, b.jobs
    )
    select g.task_id, sum(g.jobs) as jobs from gone as g group by g.task_id
  loop
    insert into {{.schema}}._gw_suspects as s (job_id, revision)
    select n.id, n.revision
      from (select j.id, j.revision
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id is null and j.task_id = batches.task_id
               and {{.schema}}._gw_fits_batch(j.key, j.flags, j.attempts, j.payload)
             order by j.priority, j.run_at, j.id
             limit batches.jobs
               for update skip locked) as n
     limit greatest(0, 10000 - (select count(*) from {{.schema}}._gw_suspects))
        on conflict on constraint _gw_suspects_pkey do nothing;
  end loop;
end;
$$;

comment on function {{.schema}}._gw_suspect_batches(text[], integer) is
  'Internal, for heartbeat(): makes suspects of the jobs that batches of dead workers may have been running.';

-- Returns whether a job without a queue may be part of a batch: it has no key, so nobody waits for its lock, and no flags;
-- no attempt has failed, so a job that breaks a batch is in none again; and its payload is small. The function is a single
-- expression, so its callers inline it; an immutable one could not call pg_column_size.
create or replace function {{.schema}}._gw_fits_batch(
  key      text,
  flags    jsonb,
  attempts smallint,
  payload  json
)
  returns boolean
  language sql
  stable
as $$
  select key is null and flags is null and attempts operator(pg_catalog.=) 0
         and pg_catalog.pg_column_size(payload) operator(pg_catalog.<=) 2000
         and pg_catalog.octet_length(payload::pg_catalog.text) operator(pg_catalog.<=) 8192
$$;

comment on function {{.schema}}._gw_fits_batch(text, jsonb, smallint, json) is
  'Internal: returns whether a job without a queue may be part of a batch.';
