-- Returns whether cron functions accept a time: the years 1 to 199999, so that the times around it are valid as well.
-- The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_in_calendar(at timestamptz)
  returns boolean language sql immutable
as $$
  select at operator(pg_catalog.>=) pg_catalog.timestamptz '0001-01-01 00:00:00Z' and at operator(pg_catalog.<) pg_catalog.timestamptz '200000-01-01 00:00:00Z'
$$;

comment on function {{.schema}}._gw_in_calendar(timestamptz) is 'Internal: returns whether cron functions accept a time: the years 1 to 199999, so that the times around it are valid as well.';
