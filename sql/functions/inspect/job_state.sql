-- Where a job stands, in the words that all of the queue uses:
--   ready      due, and nobody runs it (its queue may be busy)
--   scheduled  due later, be it for the first time or after a failure
--   running    claimed
--   failed     out of attempts, kept until somebody acts
-- One expression without a path of its own, so that a query is planned as if it were written there.
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
  'Where a job with these columns stands: ready (due), scheduled (due later), running (claimed) or failed (out of attempts).';
