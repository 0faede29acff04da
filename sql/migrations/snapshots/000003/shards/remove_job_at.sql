-- remove_job in a shard: a caller with an old map must not take a job that was moved for one that does not exist.
-- Locks: the row of the slot; then as remove_job.
-- Raises GWSNS, GWSLT, GWSMV.
create or replace function {{.schema}}.remove_job_at(
  slot    integer,
  job_key text
)
  returns {{.schema}}._private_jobs
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_hold_shard_slot(slot);
  return {{.schema}}.remove_job(job_key);
end;
$$;

comment on function {{.schema}}.remove_job_at(integer, text) is
  'Removes the job under a key as remove_job() does, but only if this database is the shard that has the slot; see add_job_at().';
