-- add_job in a shard: refuses the call if the slot of the job is in another shard, whatever map the caller has. The slot is
-- shard_slot() of the shard key: one that the application chooses, otherwise the named queue, otherwise the job key; jobs
-- without any of these may have any slot of the shard.
-- Locks: the row of the slot and those of names, see _gw_hold_shard_slot; then as add_job.
-- Raises GWSNS, GWSLT, GWSMV, and what add_job raises.
create or replace function {{.schema}}.add_job_at(
  slot         integer,
  identifier   text,
  payload      json        default null,
  queue_name   text        default null,
  run_at       timestamptz default null,
  max_attempts integer     default null,
  job_key      text        default null,
  priority     integer     default null,
  flags        text[]      default null,
  job_key_mode text        default 'replace'
)
  returns {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_hold_shard_slot(slot);
  if num_nonnulls(queue_name, job_key) > 0 then
    perform {{.schema}}._gw_place_name('key', job_key, slot), {{.schema}}._gw_place_name('queue', queue_name, slot);
  end if;
  return {{.schema}}.add_job(identifier, payload, queue_name, run_at, max_attempts, job_key, priority, flags, job_key_mode);
end;
$$;

comment on function {{.schema}}.add_job_at(integer, text, json, text, timestamptz, integer, text, integer, text[], text) is
  'Adds a job as add_job() does, but only if this database is the shard that has the slot. The slot is shard_slot() of the shard key: of your choice, otherwise the named queue, otherwise the job key, otherwise any slot of the shard.';
