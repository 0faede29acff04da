-- Ends a batch that began with _gw_lock_tx_batch; the caller commits then. The jobs at done are deleted: they are
-- completed. Those at claimed are claimed by the worker, with the lease of the batch, so that their outcomes are reported
-- by fail_job, return_job and the like, as those of any claimed job. The commit unlocks the others, which are as before.
-- results: the results of the jobs with result_ids; they are stored where somebody asked for them.
-- batch_size, mean: how many jobs the batch was allowed to have, and the seconds that a job took. Returns how many the
-- next batch may have, but not more than most; the worker's record grows to it.
-- Locks: the jobs are locked already; the worker's record.
-- Raises GWWBC if a job was changed since it was locked, which only the transaction itself can have done; GWWRS if a
-- result that was asked for has more bytes than the setting max_result.
create or replace function {{.schema}}._gw_end_tx_batch(
  worker_id  text,
  slot       integer,
  done       tid[],
  claimed    tid[],
  lease      bigint,
  result_ids bigint[],
  results    json[],
  batch_size integer,
  mean       double precision,
  most       integer
)
  returns integer
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  next_size integer := least(most, {{.schema}}._gw_next_batch_size(batch_size, mean));
begin
  if result_ids <> '{}' and {{.schema}}._gw_keeps() then
    perform {{.schema}}._gw_store_results(array_agg(u.id), array_agg(u.result))
       from unnest(result_ids, results, {{.schema}}._gw_wanted_results(result_ids)) as u (id, result, is_wanted)
      where u.is_wanted
     having count(*) > 0;
  end if;
  perform {{.schema}}._gw_end_batch(worker_id, slot, done, '{}', '{}', next_size, claimed, lease);
  return next_size;
end;
$$;

comment on function {{.schema}}._gw_end_tx_batch(text, integer, tid[], tid[], bigint, bigint[], json[], integer, double precision, integer) is
  'Internal, for workers: ends a batch whose handlers were given the transaction: deletes the jobs that are completed and claims those with other outcomes.';
