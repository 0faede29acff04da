-- Implements fail_job and fail_job_batch. Returns the new state of the jobs that it changed. A job in a lane becomes incoming, so the
-- next claim that meets it looks at its gates again, which a replacement payload may change.
-- A replacement payload larger than the setting max_payload is not stored, and its job fails permanently: a retry with
-- the old payload would repeat the part that is done, and refusing the outcome would have the same effect after the
-- worker's next restart.
create or replace function {{.schema}}._gw_fail_jobs(worker_id text, failures {{.schema}}._gw_failure[])
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language plpgsql
  set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set jit = off
as $$
declare
  job_ids   bigint[];
  leases    bigint[];
  messages  text[];
  retry_ats timestamptz[];
  payloads  json[];
  permanent boolean[];
  held      {{.schema}}._gw_ended_job[];
  changed   record;
begin
  -- The update finds the values of a job by binary search, so ids must ascend. A join with the jobs could get a plan
  -- that reads all jobs.
  select array_agg(o.job_id), array_agg(o.lease), array_agg(o.message), array_agg(o.retry_at), array_agg(o.payload),
         array_agg(o.permanent)
    into job_ids, leases, messages, retry_ats, payloads, permanent
    from (select f.job_id, f.lease, f.retry_at,
                 case when l.bytes is null then f.message
                      else format('The replacement payload has %s bytes, more than max_payload allows, and was not stored. %s',
                                  l.bytes, f.message) end as message,
                 case when l.bytes is null then f.payload end as payload,
                 f.permanent or l.bytes is not null as permanent
            from unnest(failures) as f
           cross join lateral (
                  select case when pg_column_size(f.payload) > 2000 -- the same threshold as where a job is added
                               and octet_length(f.payload::text) > (select {{.schema}}.setting('max_payload')::bigint)
                              then octet_length(f.payload::text) end as bytes) as l
           order by f.job_id) as o;
  held := {{.schema}}._gw_hold(worker_id, job_ids, leases);
  if held is null then
    perform {{.schema}}._gw_wake_for(job_ids);
    return;
  end if;
  if {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts('failed', array[worker_id], job_ids, leases, messages, permanent);
  end if;
  with failed as (
    update {{.schema}}._private_jobs as j
       -- A retired job has attempts = max_attempts + 1. No worker holds it after this update, so attempts =
       -- max_attempts suffices.
       set (last_error, run_at, attempts, payload) = (
             select coalesce(messages[p.place], 'The worker gave no reason.'),
                    coalesce(retry_ats[p.place], {{.schema}}._gw_retry_at(j.run_at, j.attempts)),
                    case when permanent[p.place] then j.max_attempts else least(j.attempts, j.max_attempts) end,
                    coalesce(payloads[p.place], j.payload)
               from (select width_bucket(j.id, job_ids) as place offset 0) as p),
           job_queue_id = case when j.job_queue_id < 0 then -1 else j.job_queue_id end,
           locked_at = null,
           locked_by = null
     where j.id = any (array(select h.job_id from unnest(held) as h))
    returning j.id, {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at) as state,
              j.run_at, j.attempts, j.max_attempts, j.job_queue_id, j.is_available
  )
  select array_agg(f.id) as ids, array_agg(f.state) as states, array_agg(f.run_at) as run_ats, array_agg(f.attempts) as tried,
         array_agg(f.max_attempts) as maxima, count(*) as count, count(f.job_queue_id) as queued, count(*) filter (where f.is_available) as retries,
         count(*) filter (where f.is_available and f.run_at <= now()) as ready
    into changed
    from failed as f;
  if changed.queued > 0 then
    perform {{.schema}}._gw_release(worker_id, held, 'ended');
  end if;
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_suspects'::regclass) > 0 then
    perform {{.schema}}._gw_suspect_again(array[worker_id], changed.ids);
  end if;
  if changed.retries > 0 then
    perform {{.schema}}._gw_wake(changed.ready);
  end if;
  if changed.count < cardinality(failures) then
    perform {{.schema}}._gw_wake_for(job_ids);
  end if;
  return query
  select o.id, o.state, o.run_at, o.attempts, o.max_attempts
    from unnest(changed.ids, changed.states, changed.run_ats, changed.tried, changed.maxima)
      as o (id, state, run_at, attempts, max_attempts);
end;
$$;

comment on function {{.schema}}._gw_fail_jobs(text, {{.schema}}._gw_failure[]) is
  'Internal: implements fail_job and fail_job_batch.';
