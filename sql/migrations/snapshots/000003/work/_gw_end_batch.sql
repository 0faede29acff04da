-- Writes the outcomes of a batch, whose jobs this transaction has locked with _gw_lock_batch: deletes those at done,
-- records the failure of those at failed, with their messages, as fail_job does, and claims those at claimed for the worker, with
-- this lease. It is the only place where outcomes of batches are written. next_size: the number of jobs that the next batch may have; the worker's record grows to it, and is committed together
-- with this batch.
-- The arrays that it returns have one element for each failed job.
-- Locks: the jobs are locked already; the worker's record.
-- Raises GWWBC if one of the jobs was changed since it was locked, which only the transaction itself can have done.
create or replace function {{.schema}}._gw_end_batch(
  worker_id    text,
  slot         integer,
  done         tid[],
  failed       tid[],
  messages     text[],
  next_size    integer,
  claimed      tid[]  default '{}',
  lease        bigint default null,
  out states   text[],
  out attempts smallint[],
  out maxima   smallint[],
  out retry_in double precision[]
)
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  ended  bigint;
  taken  bigint := 0;
  became record;
begin
  -- For the history: these jobs are locked by this transaction, not in the name of a worker.
  perform set_config('gw.batch_worker', worker_id, true);
  if failed <> '{}' and {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_note_attempts('failed', null, array_agg(j.id order by j.id), null, array_agg(u.message order by j.id))
       from unnest(failed, messages) as u (place, message)
       join {{.schema}}._private_jobs as j on j.ctid = u.place;
  end if;
  delete from {{.schema}}._private_jobs as j where j.ctid = any (done);
  get diagnostics ended = row_count;
  perform set_config('gw.batch_worker', '', true);
  for place in 1 .. coalesce(cardinality(failed), 0) loop
    update {{.schema}}._private_jobs as j
       set attempts = j.attempts + 1, last_error = messages[place], run_at = {{.schema}}._gw_retry_at(j.run_at, j.attempts + 1)
     where j.ctid = failed[place]
    returning {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at) as state, j.attempts, j.max_attempts,
              case when j.run_at < 'infinity' then extract(epoch from greatest(j.run_at, now()) - now()) else 'infinity' end as retry_in
      into became;
    exit when not found;
    ended := ended + 1;
    states[place] := became.state;
    attempts[place] := became.attempts;
    maxima[place] := became.max_attempts;
    retry_in[place] := became.retry_in;
  end loop;
  if claimed <> '{}' then
    update {{.schema}}._private_jobs as j
       set attempts = j.attempts + 1, locked_by = worker_id, locked_at = {{.schema}}._gw_locked_at(lease)
     where j.ctid = any (claimed);
    get diagnostics taken = row_count;
  end if;
  if ended + taken < coalesce(cardinality(done), 0) + coalesce(cardinality(failed), 0) + cardinality(claimed) then
    raise exception 'A handler has changed a job that this batch runs.' using errcode = 'GWWBC',
      hint = 'Jobs that handlers change while they run cannot run in batches.';
  end if;
  if states && '{ready,scheduled}' then
    perform {{.schema}}._gw_wake(0);
  end if;
  update {{.schema}}._gw_batches as b
     set jobs = next_size
   where b.worker_id = _gw_end_batch.worker_id and b.slot = _gw_end_batch.slot and b.jobs < next_size;
end;
$$;

comment on function {{.schema}}._gw_end_batch(text, integer, tid[], tid[], text[], integer, tid[], bigint) is
  'Internal, for workers: writes the outcomes of a batch.';
