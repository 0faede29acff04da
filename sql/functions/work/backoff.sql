-- How long a failed job waits before it is tried again: e^attempts seconds, from the tenth attempt on the same.
create or replace function {{.schema}}.backoff(
  attempts integer
)
  returns interval
  language sql
  immutable
  strict
as $$
  select pg_catalog.exp(least(attempts, 10)::double precision) operator(pg_catalog.*) interval '1 second'
$$;

comment on function {{.schema}}.backoff(integer) is
  'How long a job that failed its nth attempt waits before the next: e^n seconds, from the tenth on about six hours.';

-- When a job runs again that has failed: after its back-off from now, or from its run_at if this is later, as it is for
-- a job that was claimed with another now. One of the last 276 years that there are stays where it is.
create or replace function {{.schema}}._gw_retry_at(
  run_at   timestamptz,
  attempts integer
)
  returns timestamptz
  language sql
  stable
as $$
  select case when run_at operator(pg_catalog.>) pg_catalog.timestamptz '294000-01-01 00:00:00Z' then run_at
              else greatest(pg_catalog.now(), run_at) operator(pg_catalog.+) {{.schema}}.backoff(attempts) end
$$;

comment on function {{.schema}}._gw_retry_at(timestamptz, integer) is
  'Internal: when a job runs again that has failed, by its back-off.';
