-- Returns how long a failed job waits before its next attempt: e^attempts seconds. From the tenth attempt on the wait
-- is constant.
create or replace function {{.schema}}.backoff(attempts integer)
  returns interval language sql immutable strict
as $$
  select pg_catalog.exp(least(attempts, 10)::double precision) operator(pg_catalog.*) interval '1 second'
$$;

comment on function {{.schema}}.backoff(integer) is
  'Returns how long a job that failed its nth attempt waits before the next: e^n seconds, from the tenth attempt on about six hours.';

-- Returns when a failed job runs again: its back-off after now, or after its run_at if that is later, as for a job that
-- was claimed with another now. A run_at in the last 276 years of the type's range stays unchanged.
create or replace function {{.schema}}._gw_retry_at(run_at timestamptz, attempts integer)
  returns timestamptz language sql stable
as $$
  select case when run_at operator(pg_catalog.>) pg_catalog.timestamptz '294000-01-01 00:00:00Z' then run_at
              else greatest(pg_catalog.now(), run_at) operator(pg_catalog.+) {{.schema}}.backoff(attempts) end
$$;
