-- Claims up to batch_size due jobs for a worker and returns them in the order priority, run_at, id. Of each named queue it takes
-- the first job, or up to queue_batch jobs if jobs without a queue leave room in the batch. The worker must run these one after
-- the other in this order. The queue is locked until all of them have ended. A job with a key is only taken as the first of its
-- queue, so that it can be replaced or removed until it starts, and so is a job that has failed before. Returns no row if there
-- is nothing to claim.
-- The batch ends before the payloads, as they are sent, exceed max_bytes together, but it has at least one job. A claim
-- of one job never reads the payload: a job with a damaged payload can be claimed, and failed, by its id alone.
-- Every claim counts as an attempt. lease identifies this claim of the job; pass it with the outcome.
-- A lane of a limit gives queue_batch jobs for each free slot, if the batch has room for them. Of the jobs with the same streak
-- the worker runs width at once, in the order of the rows; streak is null for jobs that it may run at any time.
-- Locks: waits for no job or queue, but see _gw_move_jobs. Locks queue rows before their head jobs, and lanes before their
-- jobs; skips rows that other transactions have locked. A claim of more than 20 jobs that has to skip many index entries
-- waits half a second at most while two other such claims run, before it locks anything; see _gw_take_turn.
-- Raises GWWID (worker id), GWWBS (batch sizes), GWWFF (forbidden flags of tasks).
--
-- Performance: the function locks rows by an array of ctids under a generic plan, which depends on no estimate and is
-- planned once. Sequential scans are off, because a plan cached while the queue was empty must not use one during a
-- burst. This function contains the ordinary case, jobs without a queue at the start of their index. _gw_lock_jobs
-- covers the other cases: named queues, limits, many index entries to skip, forbidden flags of single tasks, and suspects,
-- which only get_job_alone returns.
create or replace function {{.schema}}.get_job_batch(
  worker_id            text,
  task_identifiers     text[]      default null,
  batch_size           integer     default 1,
  forbidden_flags      text[]      default null,
  now                  timestamptz default now(),
  task_forbidden_flags json        default null,
  max_bytes            integer     default 8388608,
  queue_batch          integer     default 1
)
  returns table (
    id              bigint,
    task_identifier text,
    payload         json,
    queue_name      text,
    priority        smallint,
    run_at          timestamptz,
    attempts        smallint,
    max_attempts    smallint,
    key             text,
    flags           jsonb,
    lease           bigint,
    created_at      timestamptz,
    last_error      text,
    revision        integer,
    streak          integer,
    width           integer
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
  claimed_at timestamptz := clock_timestamp();
  its_lease  bigint := {{.schema}}._gw_lease(claimed_at);
  task_ids   integer[];
  task_names text[];
  snapshot   txid_snapshot;
  reads      bigint;
  places     tid[];
  has_fronts boolean := pg_relation_size('{{ replace "'" "''" .schema }}._gw_fronts'::regclass) > 0; -- otherwise there are no limits
  limited    record;
  is_lone    boolean;
  widths     jsonb; -- of streaks, by the group
begin
  <<ordinary>>
  begin
    -- One condition instead of three, because each costs a microsecond.
    if (length(worker_id) between 1 and 128 and batch_size between 1 and 20 and queue_batch > 0 and task_forbidden_flags is null
        and current_setting('gw.claim_cursor', true) = ''
        and not has_fronts) is not true then
      if (length(worker_id) between 1 and 128) is not true then
        raise exception 'Worker id must be 1 to 128 characters long.' using errcode = 'GWWID';
      elsif (batch_size >= 1) is not true then
        raise exception 'Batch size must be at least 1, not %.', coalesce(batch_size::text, 'null')
          using errcode = 'GWWBS';
      elsif (queue_batch >= 1) is not true then
        raise exception 'Queue batch must be at least 1, not %.', coalesce(queue_batch::text, 'null')
          using errcode = 'GWWBS';
      end if;
      if batch_size > 20 and task_identifiers is not null then
        -- For many jobs, by binary search below; tasks that are created later are not among them.
        select array_agg(t.id order by t.id), array_agg(t.identifier order by t.id)
          into task_ids, task_names
          from {{.schema}}._private_tasks as t
         where t.identifier = any (task_identifiers);
      end if;
      if current_setting('gw.claim_cursor', true) is null then -- the first claim of this session
        perform {{.schema}}._gw_take_claim_cursor(task_identifiers, forbidden_flags, task_forbidden_flags);
      end if;
      exit ordinary when task_forbidden_flags is not null or current_setting('gw.claim_cursor', true) <> '';
      if has_fronts then
        exit ordinary when exists (select from {{.schema}}._gw_fronts as f
                                    where f.barred_by is null and f.run_at <= greatest(get_job_batch.now, claimed_at) and f.run_at < 'infinity');
      end if;
    end if;

    snapshot := txid_current_snapshot();
    reads := {{.schema}}._gw_index_reads();
    return query
    with claimed as (
      update {{.schema}}._private_jobs as j
         set attempts = j.attempts + 1, locked_by = worker_id, locked_at = claimed_at
       where j.ctid = any ((
               select case when sum(l.bytes) > max_bytes then {{.schema}}._gw_within_bytes(array_agg(l.ctid), max_bytes)
                           else array_agg(l.ctid)
                      end
                 from (select j.ctid,
                              case when batch_size = 1 then 0 else {{.schema}}._gw_most_bytes(j.payload) end as bytes
                         from {{.schema}}._private_jobs as j
                        where (select not exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0) -- any, by the index
                                      and not exists (select from {{.schema}}._private_jobs as q
                                                       where q.is_available and q.job_queue_id > 0))
                          and j.is_available and j.job_queue_id is null
                          and (j.xmax = '0' or {{.schema}}._gw_is_free(j.xmax, snapshot))
                          and {{.schema}}._gw_suits(
                                j.run_at, j.task_id, j.flags, get_job_batch.now,
                                case when task_identifiers is not null then
                                  array(select t.id from {{.schema}}._private_tasks as t
                                         where t.identifier = any (task_identifiers))
                                end,
                                forbidden_flags)
                        order by j.priority, j.run_at, j.id
                        limit batch_size
                          for update skip locked) as l)::tid[])
      returning j.id, j.task_id, j.payload, j.priority, j.run_at, j.attempts, j.max_attempts, j.key, j.flags, j.created_at,
                j.last_error, j.revision
    )
    select c.id,
           case when task_ids[width_bucket(c.task_id, task_ids)] = c.task_id then task_names[width_bucket(c.task_id, task_ids)]
                else (select t.identifier from {{.schema}}._private_tasks as t where t.id = c.task_id) -- null: deleted by hand
           end,
           c.payload, null::text,
           c.priority, c.run_at, c.attempts, c.max_attempts, c.key, c.flags,
           its_lease, c.created_at, c.last_error, c.revision, null::integer, null::integer
      from claimed as c
     order by c.priority, c.run_at, c.id;
    if found then
      if {{.schema}}._gw_index_reads() - reads - 1000 > batch_size then
        perform {{.schema}}._gw_put_claim_cursor(task_identifiers, forbidden_flags, null, null, null, null, claimed_at, null);
      end if;
      return;
    elsif {{.schema}}._gw_index_reads() - reads > 1000 then
      perform {{.schema}}._gw_take_claim_cursor(task_identifiers, forbidden_flags, task_forbidden_flags);
    end if;
  end;

  -- A job is in a queue, has limits or is a suspect, or this session has a cursor, or the first search found nothing.
  if not has_fronts then
    places := {{.schema}}._gw_lock_jobs(
      worker_id, task_identifiers, batch_size, forbidden_flags, task_forbidden_flags, get_job_batch.now, claimed_at, max_bytes,
      least(queue_batch, 1000));
  else
    limited := {{.schema}}._gw_lock_limited_jobs(
      worker_id, task_identifiers, batch_size, forbidden_flags, task_forbidden_flags, get_job_batch.now, claimed_at, max_bytes,
      least(queue_batch, 1000));
    places := limited.places;
    claimed_at := limited.claimed_at;
    is_lone := limited.is_lone;
    its_lease := {{.schema}}._gw_lease(claimed_at);
    if is_lone is not true then
      widths := {{.schema}}._gw_widths(places, claimed_at, worker_id);
    end if;
  end if;
  if cardinality(places) > 0 then
    return query
    with claimed as (
      update {{.schema}}._private_jobs as j
         set attempts = j.attempts + 1, locked_by = worker_id, locked_at = claimed_at
       where j.ctid = any (places)
      returning j.id, j.task_id, j.payload, j.job_queue_id, j.priority, j.run_at, j.attempts, j.max_attempts, j.key,
                j.flags, j.created_at, j.last_error, j.revision
    )
    select c.id,
           case when task_ids[width_bucket(c.task_id, task_ids)] = c.task_id then task_names[width_bucket(c.task_id, task_ids)]
                else (select t.identifier from {{.schema}}._private_tasks as t where t.id = c.task_id) -- null: deleted by hand
           end,
           c.payload,
           case when c.job_queue_id > 0 then
                  (select q.queue_name from {{.schema}}._private_job_queues as q where q.id = c.job_queue_id)
                when c.job_queue_id < 0 and is_lone is not true then (select {{.schema}}._gw_queues_of_groups(places)) ->> c.job_queue_id::text
           end,
           c.priority, c.run_at, c.attempts, c.max_attempts, c.key, c.flags,
           its_lease, c.created_at, c.last_error, c.revision,
           case when c.job_queue_id > 0 or widths is not null and widths ? c.job_queue_id::text then c.job_queue_id end,
           case when c.job_queue_id > 0 then 1 when widths is not null then (widths -> c.job_queue_id::text)::integer end
      from claimed as c
     order by c.priority, c.run_at, c.id;
  end if;
end;
$$;

comment on function {{.schema}}.get_job_batch(text, text[], integer, text[], timestamptz, json, integer, integer) is
  'Claims up to batch_size due jobs for a worker and returns them in the order priority, run_at, id. task_identifiers: the tasks that the worker can run, all if null. forbidden_flags: jobs with one of these flags are not claimed. task_forbidden_flags: the same for single tasks: an object of lists of flags by task identifier. now: jobs with a run_at up to this time are due. max_bytes: the maximum total size of the payloads as text, in bytes, but the first job is always returned; null is no limit. queue_batch: the maximum number of jobs of one named queue, 1000 at most, which the worker must run one after the other; the queue is free when all of them have ended; and of jobs for each free slot of a limit. lease: identifies the claim; pass it with the outcome. streak: null if the job may run at any time; of the jobs of the claim with the same number only width may run at once, in the order of the rows. Returns no row if there is nothing to claim.';
