-- Returns to the queue, as return_job does, the jobs that are locked in a worker's name but that the worker does not
-- know of, and returns their number. Such jobs exist if the answer to a claim was lost with its connection, or if a
-- failed-over server lost the commits of their outcomes.
-- known_ids: the jobs that the worker knows of. Call the function only while no claim of the worker is in flight.
-- Locks: job rows by id, then queue rows by id.
create or replace function {{.schema}}.return_unknown_jobs(
  worker_id text,
  known_ids bigint[]
)
  returns bigint language sql set search_path = pg_catalog, pg_temp
as $$
  select count(*)
    from {{.schema}}.return_job_batch(
           worker_id, array(select j.id from {{.schema}}._private_jobs as j where j.locked_by = worker_id and j.id <> all (coalesce(known_ids, '{}'))))
$$;

comment on function {{.schema}}.return_unknown_jobs(text, bigint[]) is
  'Returns to the queue the jobs that a worker holds without knowing: the answer to a claim was lost. Returns their number. known_ids: the jobs that it knows of. Call it while no claim is in flight.';
