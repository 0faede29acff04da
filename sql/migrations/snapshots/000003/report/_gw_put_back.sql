-- Puts jobs that a worker holds back into the table: what fail_job, return_job, their batches and _gw_recover_jobs do.
-- Returns their new state. A job in a lane becomes incoming, so the next claim that meets it looks at its gates again,
-- which a new payload may change.
-- outcome: failed, returned, snoozed or recovered, as in job_history. A job that has failed runs again after a back-off
-- unless it says when. A replacement payload larger than the setting max_payload is not stored, and its job fails
-- permanently: a retry with the old payload would repeat the part that is done, and refusing the outcome would have the
-- same effect after the worker's next restart.
-- Locks: job rows by id, then queue rows by id.
create or replace function {{.schema}}._gw_put_back(worker_id text, outcome text, outcomes {{.schema}}._gw_outcome[])
  returns table (id bigint, state text, run_at timestamptz, attempts smallint, max_attempts smallint) language plpgsql
  set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set jit = off
as $$
declare
  job_ids bigint[];
  leases  bigint[];
  held    {{.schema}}._gw_ended_job[];
begin
  outcomes := array(
    select row(o.job_id, o.lease,
               case when l.bytes is null then o.message
                    else format('The replacement payload has %s bytes, more than max_payload allows, and was not stored. %s',
                                l.bytes, o.message) end,
               o.retry_at, case when l.bytes is null then o.payload end, o.uncounted, o.permanent or l.bytes is not null)::{{.schema}}._gw_outcome
      from unnest(outcomes) as o
     cross join lateral (
            select case when pg_column_size(o.payload) > 2000 -- the same threshold as where a job is added
                         and octet_length(o.payload::text) > (select {{.schema}}.setting('max_payload')::bigint)
                        then octet_length(o.payload::text) end as bytes) as l
     order by o.job_id);
  job_ids := array(select o.job_id from unnest(outcomes) as o);
  leases := array(select o.lease from unnest(outcomes) as o);
  held := {{.schema}}._gw_hold(worker_id, job_ids, leases);
  if held <> '{}' then
    if {{.schema}}._gw_keeps() then
      perform {{.schema}}._gw_note_attempts(
        outcome, array[worker_id], job_ids, leases,
        case when outcome = 'recovered' then array['The worker reported no outcome.'] else array(select o.message from unnest(outcomes) as o) end,
        array(select o.permanent from unnest(outcomes) as o));
    end if;
    return query
    with put as (
      update {{.schema}}._private_jobs as j
         -- A retired job has attempts = max_attempts + 1. No worker holds it after this update, so attempts =
         -- max_attempts suffices; one attempt less leaves it failed, too.
         set attempts     = case when o.uncounted then greatest(0, j.attempts - 1)
                                 when o.permanent then j.max_attempts
                                 else least(j.attempts, j.max_attempts) end,
             run_at       = coalesce(o.retry_at,
                                     case when outcome = 'failed' then {{.schema}}._gw_retry_at(j.run_at, j.attempts) else j.run_at end),
             last_error   = coalesce(o.message, j.last_error),
             payload      = coalesce(o.payload, j.payload),
             job_queue_id = case when j.job_queue_id < 0 then -1 else j.job_queue_id end,
             locked_at    = null,
             locked_by    = null
        from unnest(held) as h
        join unnest(outcomes) as o on o.job_id = h.job_id
       cross join lateral (select l.ctid from {{.schema}}._private_jobs as l where l.id = h.job_id offset 0) as l -- see _gw_count_at_gates
       where j.ctid = l.ctid
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

comment on function {{.schema}}._gw_put_back(text, text, {{.schema}}._gw_outcome[]) is 'Internal: puts jobs that a worker holds back into the table: what fail_job, return_job, their batches and _gw_recover_jobs do.';
