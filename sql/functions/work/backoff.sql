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
