-- Completes jobs as complete_job_batch does, but all of them or none. It is for a transaction that is sent together
-- with its commit, so that the client cannot check the completed ids before the commit.
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWLL if the worker no longer holds one of the jobs by the lease beside it; the detail lists these jobs.
-- Raises GWWOB if the arrays do not match.
create or replace function {{.schema}}._gw_complete_all(
  worker_id text, job_ids bigint[], leases bigint[], results json[] default null)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  completed bigint[];
begin
  completed := array(select c.id from {{.schema}}.complete_job_batch(worker_id, job_ids, leases, results) as c (id));
  if cardinality(completed) < cardinality(job_ids) then
    raise exception 'The worker no longer holds % of the % jobs.',
        cardinality(job_ids) - cardinality(completed), cardinality(job_ids)
      using errcode = 'GWWLL',
            detail = (select string_agg(u.id::text, ',') from unnest(job_ids) as u (id) where u.id <> all (completed));
  end if;
end;
$$;
