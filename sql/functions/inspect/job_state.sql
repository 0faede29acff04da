-- Returns the state of a job, in the terms used everywhere in the queue:
--   ready      due and not claimed (its named queue may be locked)
--   scheduled  due later, for its first attempt or for a retry
--   running    claimed
--   failed     out of attempts; it stays until it is deleted or retried
-- The function is a single expression without a search_path of its own, so that PostgreSQL inlines it.
create or replace function {{.schema}}.job_state(
  run_at       timestamptz,
  attempts     integer,
  max_attempts integer,
  locked_at    timestamptz
)
  returns text
  language sql
  stable
as $$
  select case when locked_at is not null then 'running'
              when attempts operator(pg_catalog.>=) max_attempts then 'failed'
              when run_at operator(pg_catalog.>) pg_catalog.now() then 'scheduled'
              else 'ready' end
$$;

comment on function {{.schema}}.job_state(timestamptz, integer, integer, timestamptz) is
  'Returns the state of a job with these columns: ready (due), scheduled (due later), running (claimed) or failed (out of attempts).';
