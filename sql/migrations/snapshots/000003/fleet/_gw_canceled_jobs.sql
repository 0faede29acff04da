-- For a worker that is about to start a job that it has claimed together with others: returns those of its jobs that cancel_jobs has
-- canceled.
create or replace function {{.schema}}._gw_canceled_jobs(worker_id text)
  returns bigint[] language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  if not exists (select from {{.schema}}._gw_cancels as c where c.job_id > 0) then -- any, by the index
    return array[]::bigint[];
  end if;
  return array(
    select c.job_id
      from {{.schema}}._gw_cancels as c
     cross join lateral (
           select from {{.schema}}._private_jobs as j
            where j.id = c.job_id and j.locked_by = c.worker_id and j.attempts > j.max_attempts
           offset 0) as j -- prevents a join that could read all jobs
     where c.worker_id = _gw_canceled_jobs.worker_id);
end;
$$;

comment on function {{.schema}}._gw_canceled_jobs(text) is
  'Internal, for workers: returns those of its jobs that cancel_jobs has canceled.';
