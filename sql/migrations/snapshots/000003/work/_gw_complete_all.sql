-- Reports jobs as done as complete_job_batch does, but all of them or none: for a transaction that is sent in one go, its
-- commit included, so that nobody can look at what was completed before that.
-- Locks: job rows by id, then queue rows by id.
-- Raises GWWLL when the worker does not hold one of the jobs any more, by the lease beside it; the detail lists those.
-- Raises GWWOB when the arrays do not fit together.
create or replace function {{.schema}}._gw_complete_all(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  completed bigint[];
begin
  completed := array(select c.id from {{.schema}}.complete_job_batch(worker_id, job_ids, leases) as c (id));
  if cardinality(completed) < cardinality(job_ids) then
    raise exception 'The worker does not hold % of the % jobs any more.',
        cardinality(job_ids) - cardinality(completed), cardinality(job_ids)
      using errcode = 'GWWLL',
            detail = (select string_agg(u.id::text, ',') from unnest(job_ids) as u (id) where u.id <> all (completed));
  end if;
end;
$$;

comment on function {{.schema}}._gw_complete_all(text, bigint[], bigint[]) is
  'Internal: reports jobs as done and raises GWWLL if the worker does not hold all of them any more.';
