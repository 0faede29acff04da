-- The next jobs of a task for a batch: due jobs without a queue, in the order priority, run_at, id, from a position on. Rows whose last
-- locker may still be running are skipped before they are locked, as claims skip them by _gw_is_free. A locker that has ended
-- after the oldest transaction began is taken for a running one; its jobs are left to claims, and to later batches.
-- The other jobs of the task are left to claims: jobs with keys, flags, queues, limits, failed attempts or large payloads, and
-- suspects; see _gw_fits_batch.
{{ define "jobs of a batch" }}from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id is null
             and (j.priority, j.run_at, j.id) >= (coalesce(from_priority, -32768), coalesce(from_run_at, '-infinity'), coalesce(from_id, 0))
             and j.run_at <= now() and j.task_id = recorded.task_id
             and age(j.xmax) > recorded.oldest
             and {{.schema}}._gw_fits_batch(j.key, j.flags, j.attempts, j.payload)
             and case when (select exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0)) then
                   not exists (select from {{.schema}}._gw_suspects as s
                                where s.job_id = j.id and s.revision = j.revision offset 0) -- 0: no hash of all suspects
                 else true end
           order by j.priority, j.run_at, j.id
           limit recorded.jobs
             for update skip locked{{ end }}

-- Returns the task that a worker has recorded for the batches of a slot, and how many jobs the next one may have, which are
-- batch_size at most; null if it must not run now: the worker has no record, limits are being changed, or everything is paused.
-- oldest: the age of the oldest transaction that may hold locks. The age of no transaction (0) is the largest integer.
-- Raises GWWBI above READ COMMITTED.
create or replace function {{.schema}}._gw_recorded_batch(
  worker_id   text,
  slot        integer,
  batch_size  integer,
  out task_id integer,
  out jobs    integer,
  out oldest  integer
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'A batch must run in a transaction at READ COMMITTED.' using errcode = 'GWWBI';
  end if;
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_fronts'::regclass) > 0
     and exists (select from {{.schema}}._gw_fronts as f -- as in _gw_barred_tasks
                  where f.barred_by is null and f.run_at = '-infinity' and f.group_id is null and f.lane_id is null) then
    return;
  end if;
  oldest := age((txid_snapshot_xmin(txid_current_snapshot()) & 4294967295)::text::xid);
  select b.task_id, least(b.jobs, batch_size)
    into task_id, jobs
    from {{.schema}}._gw_batches as b
   where b.worker_id = _gw_recorded_batch.worker_id and b.slot = _gw_recorded_batch.slot;
end;
$$;

comment on function {{.schema}}._gw_recorded_batch(text, integer, integer) is
  'Internal, for workers: returns the task of the batches of a slot, and how many jobs the next one may have.';

-- Locks the next jobs of a task for a batch of a worker, up to batch_size and to the number that the worker has recorded. The
-- arrays have one element for each job, in their order; unless details is true only places and payloads. places is null if there is no
-- job, or if the batch must not run now.
-- from_priority, from_run_at, from_id: a job that a claim of this worker has returned shortly before, or the last job of a batch.
-- So a batch reads neither what the claim had to skip nor what other batches have left.
-- Performance: two statements, because each unused array would take 1 % of the time of a batch.
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
  out places       tid[],
  out payloads     json[],
  out ids          bigint[],
  out priorities   smallint[],
  out run_ats      timestamptz[],
  out created_ats  timestamptz[],
  out max_attempts smallint[]
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  recorded record := {{.schema}}._gw_recorded_batch(worker_id, slot, batch_size);
begin
  if recorded.jobs is null then
    return;
  elsif details then
    select array_agg(l.ctid), array_agg(l.payload), array_agg(l.id), array_agg(l.priority), array_agg(l.run_at),
           array_agg(l.created_at), array_agg(l.max_attempts)
      into places, payloads, ids, priorities, run_ats, created_ats, max_attempts
      from (select j.ctid, j.payload, j.id, j.priority, j.run_at, j.created_at, j.max_attempts
            {{ template "jobs of a batch" . }}) as l;
  else
    select array_agg(l.ctid), array_agg(l.payload)
      into places, payloads
      from (select j.ctid, j.payload
            {{ template "jobs of a batch" . }}) as l;
  end if;
end;
$$;

comment on function {{.schema}}._gw_lock_batch(text, integer, integer, boolean, smallint, timestamptz, bigint) is
  'Internal, for workers: locks the next jobs of a task for a batch.';
