-- Implements fail_job and fail_job_batch. The arrays have one element per job. Returns the new state of the jobs that
-- it changed.
-- A replacement payload larger than the setting max_payload is not stored, and its job fails permanently: a retry with
-- the old payload would repeat the part that is done, and refusing the outcome would have the same effect after the
-- worker's next restart.
create or replace function {{.schema}}._gw_fail_jobs(
  worker_id    text,
  job_ids      bigint[],
  leases       bigint[],
  messages     text[],
  retry_ats    timestamptz[],
  payloads     json[],
  permanent    boolean[]
)
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  ids       bigint[];
  states    text[];
  run_ats   timestamptz[];
  tried     smallint[];
  maxima    smallint[];
  queue_ids integer[];
  held_ats  timestamptz[];
  retries   bigint;
  ready     bigint;
begin
  -- The update finds the values of a job by binary search, so ids must ascend. A join with the jobs could get a plan
  -- that reads all jobs.
  select array_agg(o.id), array_agg(o.lease), array_agg(o.message), array_agg(o.retry_at), array_agg(o.payload),
         array_agg(o.permanent)
    into job_ids, leases, messages, retry_ats, payloads, permanent
    from (select u.id, u.lease, u.retry_at,
                 case when l.bytes is null then u.message
                      else format('The replacement payload has %s bytes, more than max_payload allows, and was not stored. %s',
                                  l.bytes, u.message) end as message,
                 case when l.bytes is null then u.payload end as payload,
                 u.permanent or l.bytes is not null as permanent
            from unnest(job_ids, leases, messages, retry_ats, payloads, permanent)
              as u (id, lease, message, retry_at, payload, permanent)
           cross join lateral (
                  select case when pg_column_size(u.payload) > 2000 -- the same threshold as where a job is added
                               and octet_length(u.payload::text) > (select {{.schema}}.setting('max_payload')::bigint)
                              then octet_length(u.payload::text) end as bytes) as l
           order by u.id) as o;
  leases := {{.schema}}._gw_known_leases(worker_id, job_ids, leases);
  if {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts('failed', array[worker_id], job_ids, leases, messages, permanent);
  end if;
  with failures as (
    update {{.schema}}._private_jobs as j
       -- A retired job has attempts = max_attempts + 1. No worker holds it after this update, so attempts =
       -- max_attempts suffices.
       set (last_error, run_at, attempts, payload) = (
             select coalesce(messages[p.place], 'The worker gave no reason.'),
                    coalesce(retry_ats[p.place], {{.schema}}._gw_retry_at(j.run_at, j.attempts)),
                    case when permanent[p.place] then j.max_attempts else least(j.attempts, j.max_attempts) end,
                    coalesce(payloads[p.place], j.payload)
               from (select width_bucket(j.id, job_ids) as place offset 0) as p),
           locked_at = null,
           locked_by = null
     where j.id = any (job_ids)
       and j.locked_by = worker_id
       and j.locked_at = {{.schema}}._gw_locked_at(leases[width_bucket(j.id, job_ids)])
    returning j.id, {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at) as state,
              j.run_at, j.attempts, j.max_attempts, j.job_queue_id, j.is_available,
              j.is_available and j.run_at <= now() as is_ready,
              {{.schema}}._gw_locked_at(leases[width_bucket(j.id, job_ids)]) as held_at
  )
  select array_agg(f.id), array_agg(f.state), array_agg(f.run_at), array_agg(f.attempts), array_agg(f.max_attempts),
         array_agg(f.job_queue_id) filter (where f.job_queue_id is not null),
         array_agg(f.held_at) filter (where f.job_queue_id is not null),
         count(*) filter (where f.is_available), count(*) filter (where f.is_ready)
    into ids, states, run_ats, tried, maxima, queue_ids, held_ats, retries, ready
    from failures as f;
  if queue_ids is not null then
    perform {{.schema}}._gw_free_queues(worker_id, queue_ids, ids, held_ats);
  end if;
  if retries > 0 then
    perform {{.schema}}._gw_wake(ready);
  end if;
  if (cardinality(ids) = cardinality(job_ids)) is not true then
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
  return query
  select o.id, o.state, o.run_at, o.attempts, o.max_attempts
    from unnest(ids, states, run_ats, tried, maxima) as o (id, state, run_at, attempts, max_attempts);
end;
$$;

comment on function {{.schema}}._gw_fail_jobs(text, bigint[], bigint[], text[], timestamptz[], json[], boolean[]) is
  'Internal: implements fail_job and fail_job_batch.';
