-- Stores a context (names and values, such as a trace) for jobs that this transaction has added. A context belongs to
-- the job's revision given beside the id. A later request under the same key never inherits it, whether that request
-- has a context or not. If a job occurs twice, its highest revision counts.
-- Locks: context rows by id, after the jobs themselves.
create or replace function {{.schema}}._gw_put_job_contexts(job_ids bigint[], revisions integer[], context json)
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  insert into {{.schema}}._gw_job_context as c (job_id, revision, context)
  select u.id, max(u.revision), _gw_put_job_contexts.context::jsonb
    from unnest(job_ids, revisions) as u (id, revision)
   group by u.id
   order by u.id
      on conflict on constraint _gw_job_context_pkey do update
     set revision = excluded.revision, context = excluded.context
   where c.revision <= excluded.revision;
end;
$$;
