-- Saves the result of a step of a running job, and returns the result that is stored under the name: the first one that
-- was saved counts. A later attempt of the job finds it by job_steps() and need not run the step again. Call it in the
-- transaction of the step's own writes: then both are committed, or neither.
--
-- Steps stay when the job fails, is returned, snoozed, recovered or retried. They are deleted some time after the job.
-- A request that replaces the job under its key starts without steps, because it is another request; unsafe_dedupe,
-- which replaces nothing, keeps them.
--
-- Acts only while the worker holds the job (by this lease, if one is given): the job row stays locked until the
-- transaction ends, so that nothing can free the job before that.
-- Locks: the job row, then the row of the step.
-- Raises GWWLL if the worker does not hold the job, GWWSN if the name is null, empty or has more than 128 characters,
-- GWWSR if the result has more than 1 MiB; the caller may retry after 40001.
create or replace function {{.schema}}.save_step(
  worker_id text,
  job_id    bigint,
  lease     bigint,
  name      text,
  result    json default null
)
  returns json language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  of_revision integer;
  stored      json;
begin
  if (length(save_step.name) between 1 and 128) is not true then
    raise exception 'The name of a step must have 1 to 128 characters; it %.',
      coalesce('has ' || length(save_step.name), 'is null') using errcode = 'GWWSN';
  elsif octet_length(save_step.result::text) > 1048576 then
    raise exception 'The result of the step ''%'' has % bytes; the maximum is 1048576.',
      save_step.name, octet_length(save_step.result::text)
      using errcode = 'GWWSR', hint = 'Store large data elsewhere and save a reference to it.';
  end if;
  select j.revision into of_revision
    from {{.schema}}._private_jobs as j
   where j.id = save_step.job_id
     and j.locked_by = save_step.worker_id
     and {{.schema}}._gw_is_held(j.locked_at, save_step.lease)
     for no key update;
  if not found then
    raise exception 'Worker % does not hold job % any more, so the step ''%'' was not saved.',
      coalesce('''' || save_step.worker_id || '''', 'null'), coalesce(save_step.job_id::text, 'null'), save_step.name
      using errcode = 'GWWLL', hint = 'Roll back: another worker runs the job, or it has ended.';
  end if;
  insert into {{.schema}}._gw_steps as s (job_id, revision, name, result)
  values (save_step.job_id, of_revision, save_step.name, coalesce(save_step.result, 'null'))
      on conflict on constraint _gw_steps_pkey do update
     set revision = excluded.revision, result = excluded.result, saved_at = clock_timestamp()
   where s.revision <> excluded.revision
  returning s.result into stored;
  if not found then
    select s.result into stored from {{.schema}}._gw_steps as s where s.job_id = save_step.job_id and s.name = save_step.name;
  elsif random() < 1.0 / 64 then -- reading four rows for each new one limits the table to twice what is needed
    perform {{.schema}}._gw_drop_spent_rows('{{ replace "'" "''" .schema }}._gw_steps', 256);
  end if;
  return stored;
end;
$$;

comment on function {{.schema}}.save_step(text, bigint, bigint, text, json) is
  'Saves the result of a step of a job that the worker holds (by this lease, if one is given), and returns the result stored under the name: the first one that was saved counts. A later attempt finds it by job_steps().';

-- Returns the steps of a job that earlier attempts and this one have saved, in that order.
create or replace function {{.schema}}.job_steps(job_id bigint)
  returns table (name text, result json, saved_at timestamptz) language sql stable set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set jit = off
as $$
  select s.name, s.result, s.saved_at
    from {{.schema}}._gw_steps as s
   where s.job_id = job_steps.job_id
     and s.revision = (select j.revision from {{.schema}}._private_jobs as j where j.id = job_steps.job_id)
   order by s.saved_at, s.name
$$;

comment on function {{.schema}}.job_steps(bigint) is
  'Returns the steps that attempts of a job have saved, with their results, in the order in which they were saved.';
