-- Puts jobs that a worker holds back into the table: what fail_job, return_job, their batches and _gw_recover_jobs do. Returns their new
-- state. A job in a lane becomes incoming, so the next claim that meets it looks at its gates again, which a new payload may change.
-- outcome: failed, returned, snoozed or recovered, as in job_history. A job that has failed runs again after a back-off unless it says when.
-- A replacement payload larger than the setting max_payload is not stored, and its job fails permanently: a retry with
-- the old payload would repeat the part that is done, and refusing the outcome would have the same effect after the
-- worker's next restart.
-- Locks: job rows by id, then queue rows by id.
create or replace function {{.schema}}._gw_put_back(worker_id text, outcome text, outcomes {{.schema}}._gw_outcome[])
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language plpgsql
  set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set jit = off
as $$
declare
  job_ids  bigint[];
  leases   bigint[];
  held     {{.schema}}._gw_ended_job[];
  held_ids bigint[];
begin
  -- The update finds the outcome of a job by binary search, so ids must ascend. A join with the jobs could get a plan that reads all jobs.
  select array_agg(o.job_id), array_agg(o.lease), array_agg(o::{{.schema}}._gw_outcome)
    into job_ids, leases, outcomes
    from (select f.job_id, f.lease,
                 case when l.bytes is null then f.message
                      else format('The replacement payload has %s bytes, more than max_payload allows, and was not stored. %s',
                                  l.bytes, f.message) end,
                 f.retry_at, case when l.bytes is null then f.payload end, f.uncounted, f.permanent or l.bytes is not null
            from unnest(outcomes) as f
           cross join lateral (
                  select case when pg_column_size(f.payload) > 2000 -- the same threshold as where a job is added
                               and octet_length(f.payload::text) > (select {{.schema}}.setting('max_payload')::bigint)
                              then octet_length(f.payload::text) end as bytes) as l
           order by f.job_id) as o;
  held := {{.schema}}._gw_hold(worker_id, job_ids, leases);
  if held is not null then
    held_ids := array(select h.job_id from unnest(held) as h);
    if {{.schema}}._gw_keeps() then
      perform {{.schema}}._gw_note_attempts(
        outcome, array[worker_id], job_ids, leases,
        case when outcome = 'recovered' then array['The worker reported no outcome.'] else array(select o.message from unnest(outcomes) as o) end,
        array(select o.permanent from unnest(outcomes) as o));
    end if;
    return query
    with put as (
      update {{.schema}}._private_jobs as j
         -- A retired job has attempts = max_attempts + 1. No worker holds it after this update, so attempts = max_attempts suffices;
         -- one attempt less leaves it failed, too.
         set (last_error, run_at, attempts, payload) = (
               select coalesce((p.o).message, j.last_error),
                      coalesce((p.o).retry_at,
                               case when outcome = 'failed' then {{.schema}}._gw_retry_at(j.run_at, j.attempts) else j.run_at end),
                      case when (p.o).uncounted then greatest(0, j.attempts - 1)
                           when (p.o).permanent then j.max_attempts
                           else least(j.attempts, j.max_attempts) end,
                      coalesce((p.o).payload, j.payload)
                 from (select outcomes[width_bucket(j.id, job_ids)] as o offset 0) as p),
             job_queue_id = case when j.job_queue_id < 0 then -1 else j.job_queue_id end,
             locked_at = null,
             locked_by = null
       where j.id = any (held_ids)
      returning j.id, j.run_at, j.attempts, j.max_attempts, j.locked_at
    )
    select b.id, {{.schema}}.job_state(b.run_at, b.attempts, b.max_attempts, b.locked_at), b.run_at, b.attempts, b.max_attempts
      from put as b
     where b.locked_at is null; -- a trigger may have kept it
    perform {{.schema}}._gw_release(
      worker_id, held, case outcome when 'failed' then 'ended' when 'recovered' then 'recovered' else 'returned' end)
      where exists (select from unnest(held) as h where h.queue_id is not null);
    if outcome <> 'recovered' and pg_relation_size('{{ replace "'" "''" .schema }}._gw_suspects'::regclass) > 0 then
      perform {{.schema}}._gw_suspect_again(array[worker_id], job_ids);
    end if;
  end if;
  perform {{.schema}}._gw_wake_for(job_ids);
end;
$$;
