-- Keeps the steps of a job whose revision a call of add_job has raised without replacing the job (unsafe_dedupe). Steps
-- belong to a revision, so every other change of the revision, also by Graphile Worker or by hand, leaves them behind.
-- A caller that may not change the table leaves them behind as well: the job then runs all its steps again.
-- Locks: the rows of the steps; the caller holds the job row.
create or replace function {{.schema}}._gw_keep_steps(job_id bigint, revision integer)
  returns void language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_steps'::regclass) > 0
     and has_table_privilege('{{ replace "'" "''" .schema }}._gw_steps'::regclass, 'select')
     and has_table_privilege('{{ replace "'" "''" .schema }}._gw_steps'::regclass, 'update') then
    update {{.schema}}._gw_steps as s
       set revision = _gw_keep_steps.revision
     where s.job_id = _gw_keep_steps.job_id and s.revision = _gw_keep_steps.revision - 1;
  end if;
end;
$$;
