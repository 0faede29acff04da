-- Locks the next jobs of a task for a batch of a worker: due jobs without a queue, in the order priority, run_at, id, from a
-- position on, up to batch_size and to the number that the worker has recorded. The arrays have one element for each job, in that
-- order; details: whether this includes the last six of them. ids is null if there is none, or if the batch must not run now: the
-- worker has no record, limits are being changed, or everything is paused.
-- from_priority, from_run_at, from_id: a job that a claim of this worker has returned shortly before, or the last job of a batch.
-- So a batch reads neither what the claim had to skip nor what other batches have left.
-- The other jobs of the task are left to claims: jobs with keys, flags, queues, limits, failed attempts or large payloads, and
-- suspects; see _gw_fits_batch.
-- Locks: the jobs; skips rows that other transactions have locked.
-- Raises GWWBI above READ COMMITTED.
create or replace function {{.schema}}._gw_lock_batch(
  worker_id        text,
  slot             integer,
  batch_size       integer,
  details          boolean,
  from_priority    smallint,
  from_run_at      timestamptz,
  from_id          bigint,
  out ids          bigint[],
  out places       tid[],
  out payloads     json[],
  out priorities   smallint[],
  out run_ats      timestamptz[],
  out created_ats  timestamptz[],
  out max_attempts smallint[],
  out last_errors  text[],
  out revisions    integer[]
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  recorded record;
  oldest   integer; -- the age of the oldest transaction that may hold locks
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'A batch must run in a transaction at READ COMMITTED.' using errcode = 'GWWBI';
  end if;
  select b.task_id, least(b.jobs, batch_size) as jobs
    into recorded
    from {{.schema}}._gw_batches as b
   where b.worker_id = _gw_lock_batch.worker_id and b.slot = _gw_lock_batch.slot;
  if not found
     or pg_relation_size('{{ replace "'" "''" .schema }}._gw_fronts'::regclass) > 0
        and exists (select from {{.schema}}._gw_fronts as f -- as in _gw_barred_tasks
                     where f.barred_by is null and f.run_at = '-infinity' and f.group_id is null and f.lane_id is null) then
    return;
  end if;
  from_priority := coalesce(from_priority, -32768);
  from_run_at := coalesce(from_run_at, '-infinity');
  from_id := coalesce(from_id, 0);
  -- Rows whose last locker may still be running are skipped before they are locked, as claims skip them by _gw_is_free. The age of
  -- no transaction (0) is the largest integer. A locker that has ended after the oldest transaction began is taken for a running
  -- one; its jobs are left to claims, and to later batches.
  oldest := age((txid_snapshot_xmin(txid_current_snapshot()) & 4294967295)::text::xid);

  select array_agg(l.id), array_agg(l.ctid), array_agg(l.payload),
         array_agg(l.priority) filter (where details), array_agg(l.run_at) filter (where details),
         array_agg(l.created_at) filter (where details), array_agg(l.max_attempts) filter (where details),
         array_agg(l.last_error) filter (where details), array_agg(l.revision) filter (where details)
    into ids, places, payloads, priorities, run_ats, created_ats, max_attempts, last_errors, revisions
    from (select j.id, j.ctid, j.payload, j.priority, j.run_at, j.created_at, j.max_attempts, j.last_error, j.revision
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id is null
             and (j.priority, j.run_at, j.id) >= (from_priority, from_run_at, from_id)
             and j.run_at <= now() and j.task_id = recorded.task_id
             and age(j.xmax) > oldest
             and {{.schema}}._gw_fits_batch(j.key, j.flags, j.attempts, j.payload)
             and case when (select exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0)) then
                   not exists (select from {{.schema}}._gw_suspects as s
                                where s.job_id = j.id and s.revision = j.revision offset 0) -- 0: no hash of all suspects
                 else true end
           order by j.priority, j.run_at, j.id
           limit recorded.jobs
             for update skip locked) as l;
end;
$$;

comment on function {{.schema}}._gw_lock_batch(text, integer, integer, boolean, smallint, timestamptz, bigint) is
  'Internal, for workers: locks the next jobs of a task for a batch.';
