-- Claims one job, as get_job_batch does, for a worker that holds no other job. Suspects (see get_job_alone) come first.
-- If there is no job to claim, it frees locks older than job_expiry, at most once a minute in the whole fleet, and
-- searches again. So a queue that is worked by SQL alone needs no separate sweeper.
-- Raises GWWID (worker id), GWWEX (expiry).
create or replace function {{.schema}}.get_job(
  worker_id        text,
  task_identifiers text[]      default null,
  job_expiry       interval    default '4 hours',
  forbidden_flags  text[]      default null,
  now              timestamptz default now()
)
  returns table (
    id bigint, task_identifier text, payload json, queue_name text, priority smallint, run_at timestamptz,
    attempts smallint, max_attempts smallint, key text, flags jsonb, lease bigint, created_at timestamptz,
    last_error text, revision integer, streak integer, width integer) language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_expiry(job_expiry);
  if exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0) then
    return query
    select a.* from {{.schema}}.get_job_alone(worker_id, task_identifiers, forbidden_flags, get_job.now) as a;
    if found then
      return;
    end if;
  end if;
  for look in 1..2 loop
    return query
    select b.* from {{.schema}}.get_job_batch(worker_id, task_identifiers, 1, forbidden_flags, get_job.now) as b;
    exit when found or {{.schema}}.stale_sweep(job_expiry) = 0;
  end loop;
end;
$$;

comment on function {{.schema}}.get_job(text, text[], interval, text[], timestamptz) is
  'Claims one due job for a worker. job_expiry: if there is no job to claim, locks older than this are freed, at most once a minute; owners that are not registered keep their locks for at least four hours, registered owners that are alive keep them without limit. The other arguments and the columns are those of get_job_batch.';
