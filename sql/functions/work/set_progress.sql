-- What set_progress does, for several jobs. Returns how many of them the worker holds.
-- Raises GWWPR.
create or replace function {{.schema}}._gw_set_progress(
  worker_id text, job_ids bigint[], leases bigint[], percents double precision[], notes text[])
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set jit = off
as $$
declare
  wrong  record;
  stored bigint;
begin
  select u.job_id, u.percent, length(u.note) as note_length into wrong
    from unnest(job_ids, percents, notes) as u (job_id, percent, note)
   where u.percent not between 0 and 100 or length(u.note) > 1000
   limit 1;
  if found then
    raise exception 'The progress of a job must be from 0 to 100, with a note of at most 1000 characters; that of job % is % with %.',
      wrong.job_id, coalesce(wrong.percent::text, 'null'), coalesce(wrong.note_length, 0) using errcode = 'GWWPR';
  end if;
  insert into {{.schema}}._gw_progress as p (job_id, revision, attempt, percent, note)
  select u.job_id, j.revision, j.attempts, u.percent, u.note
    from unnest(job_ids, leases, percents, notes) as u (job_id, lease, percent, note)
   cross join lateral (
          select j.revision, j.attempts
            from {{.schema}}._private_jobs as j
           where j.id = u.job_id
             and j.locked_by = _gw_set_progress.worker_id
             and {{.schema}}._gw_is_held(j.locked_at, u.lease)
          offset 0
        ) as j
   order by u.job_id
      on conflict on constraint _gw_progress_pkey do update
     set revision = excluded.revision, attempt = excluded.attempt, percent = excluded.percent, note = excluded.note,
         reported_at = excluded.reported_at;
  get diagnostics stored = row_count;
  if random() < stored / 16.0 then
    perform {{.schema}}._gw_drop_spent_rows('{{ replace "'" "''" .schema }}._gw_progress', 64);
  end if;
  return stored;
end;
$$;

-- Stores how far a running job has come, for show_jobs(), why() and the console: percent from 0 to 100, and a note;
-- each may be null. The last call counts. Returns whether the worker holds the job (by this lease, if one is given); if
-- not, nothing is stored. Call it every few seconds at most: workers in Go send it with their heartbeats.
-- Locks: the row of the progress. It is stored until another attempt reports its own, and deleted some time after the
-- job.
-- Raises GWWPR if percent is not between 0 and 100, or note has more than 1000 characters.
create or replace function {{.schema}}.set_progress(
  worker_id text,
  job_id    bigint,
  lease     bigint,
  percent   double precision,
  note      text default null
)
  returns boolean language sql set search_path = pg_catalog, pg_temp
as $$
  select {{.schema}}._gw_set_progress(worker_id, array[job_id], array[lease], array[percent], array[note]) > 0
$$;

comment on function {{.schema}}.set_progress(text, bigint, bigint, double precision, text) is
  'Stores how far a job that the worker holds (by this lease, if one is given) has come: percent from 0 to 100, and a note; each may be null. Returns whether the worker holds the job.';
