-- Claims up to batch_size due jobs for a worker and returns them in the order priority, run_at, id. Of each named queue
-- it takes the first job, or up to queue_batch jobs if jobs without a queue leave room in the batch. The worker must
-- run these one after the other in this order. The queue is locked until all of them have ended. A job with a key is
-- only taken as the first of its queue, so that it can be replaced or removed until it starts, and so is a job that has
-- failed before. Returns no row if there is nothing to claim.
-- The batch ends before the payloads, as they are sent, exceed max_bytes together, but it has at least one job. A claim
-- of one job never reads the payload: a job with a damaged payload can be claimed, and failed, by its id alone.
-- Every claim counts as an attempt. lease identifies this claim of the job; pass it with the outcome.
-- Of the jobs with the same streak, which is that of a named queue, the worker runs width at once, in the order of the
-- rows; streak is null for jobs that it may run at any time.
-- Locks: waits for no job or queue. Locks queue rows before their head jobs; skips rows that other transactions have
-- locked. A claim of more than 20 jobs that has to skip many index entries waits half a second at most while two other
-- such claims run, before it locks anything; see _gw_take_turn.
-- Raises GWWID (worker id), GWWBS (batch sizes), GWWFF (forbidden flags of tasks).
--
-- Performance: the function locks rows by an array of ctids under a generic plan, which depends on no estimate and is
-- planned once. Sequential scans are off, because a plan cached while the queue was empty must not use one during a
-- burst. Its statement searches in the ordinary case, jobs without a queue at the start of their index. In the others
-- (named queues, limits, many index entries to skip, forbidden flags of single tasks) _gw_claim_others searches first,
-- and the statement starts what that has locked.
create or replace function {{.schema}}.get_job_batch(
  worker_id text, task_identifiers text[] default null, batch_size integer default 1, forbidden_flags text[] default null,
  now timestamptz default now(), task_forbidden_flags json default null, max_bytes integer default 8388608,
  queue_batch integer default 1)
  returns table (
    id bigint, task_identifier text, payload json, queue_name text, priority smallint, run_at timestamptz,
    attempts smallint, max_attempts smallint, key text, flags jsonb, lease bigint, created_at timestamptz,
    last_error text, revision integer, streak integer, width integer) language plpgsql
  set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set jit = off
as $$
#variable_conflict use_column
declare
  claimed_at  timestamptz := clock_timestamp();
  its_lease   bigint := {{.schema}}._gw_lease(claimed_at);
  claim       {{.schema}}._gw_claim;
  task_ids    integer[];
  task_names  text[];
  is_plain    boolean; -- first search for jobs without a queue, at the start of their index
  snapshot    txid_snapshot := txid_current_snapshot();
  reads       bigint := {{.schema}}._gw_index_reads();
  job_ids     bigint[]; -- of jobs that it has started
  places      tid[]; -- of jobs that _gw_claim_others has locked
  queue_ids   integer[]; -- of these
  queue_names text[];
begin
  -- One condition instead of several, because each costs a microsecond.
  is_plain := length(worker_id) between 1 and 128 and worker_id <> 'pause' and batch_size between 1 and 20 and queue_batch > 0 and task_forbidden_flags is null
              and current_setting('gw.claim_cursor', true) = ''
              and pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) = 0;
  if is_plain is not true then
    claim := {{.schema}}._gw_new_claim(
      worker_id, task_identifiers, batch_size, forbidden_flags, get_job_batch.now, task_forbidden_flags, max_bytes, queue_batch);
    if batch_size > 20 and task_identifiers is not null then
      -- For many jobs, by binary search below; tasks that are created later are not among them.
      select array_agg(t.id order by t.id), array_agg(t.identifier order by t.id) into task_ids, task_names
        from {{.schema}}._private_tasks as t where t.id = any (claim.task_ids);
    end if;
    perform set_config('gw.claim_cursor', '', false), {{.schema}}._gw_claim_cursor(claim)
      where current_setting('gw.claim_cursor', true) is null; -- the first claim of this session
    is_plain := task_forbidden_flags is null and current_setting('gw.claim_cursor', true) = ''
                and not {{.schema}}._gw_has_limits();
  end if;

  loop
    if not is_plain then
      claim.claimed_at := claimed_at;
      select o.* into places, job_ids, queue_ids, queue_names from {{.schema}}._gw_claim_others(claim) as o;
      if places is null then
        return query select h.* from {{.schema}}._gw_held_jobs(worker_id, job_ids, its_lease) as h;
        return;
      end if;
    end if;
    return query
    with claimed as (
      update {{.schema}}._private_jobs as j
         set attempts = j.attempts + 1, locked_by = worker_id, locked_at = claimed_at
       where j.ctid = any (case when places is null then (
               select case when sum(l.bytes) > max_bytes then {{.schema}}._gw_within_bytes(array_agg(l.ctid), max_bytes) else array_agg(l.ctid) end
                 from (select j.ctid, case when batch_size = 1 then 0 else {{.schema}}._gw_most_bytes(j.payload) end as bytes
                         from {{.schema}}._private_jobs as j
                        where (select (select q.job_queue_id from {{.schema}}._private_jobs as q
                                        where q.is_available and q.job_queue_id is not null
                                        order by q.job_queue_id -- by _gw_queue_heads, whatever the statistics are
                                        limit 1) is null
                                      and not exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0)) -- any, by the index
                          and j.is_available and j.job_queue_id is null
                          and (j.xmax = '0' or {{.schema}}._gw_is_free(j.xmax, snapshot))
                          and {{.schema}}._gw_suits(
                                j.run_at, j.task_id, j.flags, get_job_batch.now,
                                case when task_identifiers is not null then
                                  array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers))
                                end, forbidden_flags)
                        order by j.priority, j.run_at, j.id
                        limit batch_size
                          for update skip locked) as l) else places end)
      returning j.id, j.task_id, j.payload, j.job_queue_id, j.priority, j.run_at, j.attempts, j.max_attempts, j.key, j.flags,
                j.created_at, j.last_error, j.revision
    )
    select c.id,
           case when task_ids[width_bucket(c.task_id, task_ids)] = c.task_id then task_names[width_bucket(c.task_id, task_ids)]
                else (select t.identifier from {{.schema}}._private_tasks as t where t.id = c.task_id) -- null: deleted by hand
           end,
           c.payload, queue_names[width_bucket(c.job_queue_id, queue_ids)], c.priority,
           c.run_at, c.attempts, c.max_attempts, c.key, c.flags, its_lease, c.created_at, c.last_error, c.revision,
           c.job_queue_id, case when c.job_queue_id is not null then 1 end
      from claimed as c
     order by c.priority, c.run_at, c.id;
    reads := {{.schema}}._gw_index_reads() - reads;
    exit when not is_plain or found and reads - 1000 <= batch_size;
    claim := coalesce(claim, {{.schema}}._gw_new_claim(
      worker_id, task_identifiers, batch_size, forbidden_flags, get_job_batch.now, null, max_bytes, queue_batch));
    if found then
      perform {{.schema}}._gw_put_claim_cursor(claim, null, claimed_at, null);
      return;
    elsif reads > 1000 then
      perform {{.schema}}._gw_claim_cursor(claim);
    end if;
    is_plain := false;
  end loop;
end;
$$;

comment on function {{.schema}}.get_job_batch(text, text[], integer, text[], timestamptz, json, integer, integer) is
  'Claims up to batch_size due jobs for a worker and returns them in the order priority, run_at, id. task_identifiers: the tasks that the worker can run, all if null. forbidden_flags: jobs with one of these flags are not claimed. task_forbidden_flags: the same for single tasks: an object of lists of flags by task identifier. now: jobs with a run_at up to this time are due. max_bytes: the maximum total size of the payloads as text, in bytes, but the first job is always returned; null is no limit. queue_batch: the maximum number of jobs of one named queue, 1000 at most, which the worker must run one after the other; the queue is free when all of them have ended. lease: identifies the claim; pass it with the outcome. streak: null if the job may run at any time; of the jobs of the claim with the same number only width may run at once, in the order of the rows. Returns no row if there is nothing to claim.';
