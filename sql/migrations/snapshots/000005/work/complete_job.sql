-- Completes a job: deletes its row and frees its queue.
-- Acts only while the worker holds the job (by this lease, if one is given). Returns whether it did.
-- Locks: the job row, then its queue row or its slots.
-- Raises GWWOB if job_id is null.
create or replace function {{.schema}}.complete_job(
  worker_id text,
  job_id    bigint,
  lease     bigint default null
)
  returns boolean
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
declare
  queue_id integer;
begin
  if job_id is null then
    perform {{.schema}}._gw_check_outcomes(array[job_id], null);
  end if;
  delete from {{.schema}}._private_jobs as j
   where j.id = job_id
     and j.locked_by = worker_id
     and {{.schema}}._gw_is_held(j.locked_at, lease)
  returning j.job_queue_id into queue_id;
  if not found then
    perform {{.schema}}._gw_wake_for(array[job_id]);
    return false;
  end if;
  if queue_id is not null then
    perform {{.schema}}._gw_free_queues(worker_id, array[queue_id], array[job_id]);
  end if;
  return true;
end;
$$;

comment on function {{.schema}}.complete_job(text, bigint, bigint) is
  'Completes a job: deletes it and frees its queue. Acts only while the worker holds the job (by this lease, if one is given) and returns whether it did.';
