-- Returns the contexts stored for these jobs at the time of their claim: each at the revision beside the job's id.
create or replace function {{.schema}}._gw_job_contexts(job_ids bigint[], revisions integer[])
  returns table (job_id bigint, context jsonb) language sql stable set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set jit = off
as $$
  select c.job_id, c.context
    from unnest(job_ids, revisions) as u (id, revision)
    join {{.schema}}._gw_job_context as c on c.job_id = u.id and c.revision = u.revision
$$;

comment on function {{.schema}}._gw_job_contexts(bigint[], integer[]) is 'Internal: returns the contexts stored for these jobs at the time of their claim: each at the revision beside the job''s id.';
