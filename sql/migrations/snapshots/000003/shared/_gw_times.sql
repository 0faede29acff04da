-- Times from delays that a caller has given. What no timestamptz can hold becomes infinite, so that no delay is an error.
-- Each is one expression, so that callers inline it. The time itself is one of today.

-- The time that is so much later.
create or replace function {{.schema}}._gw_after(
  at    timestamptz,
  delay interval
)
  returns timestamptz
  language sql
  stable
as $$
  select case when delay operator(pg_catalog.>) interval '290000 years' then pg_catalog.timestamptz 'infinity'
              when delay operator(pg_catalog.<) interval '-5000 years' then pg_catalog.timestamptz '-infinity'
              else at operator(pg_catalog.+) delay end
$$;

comment on function {{.schema}}._gw_after(timestamptz, interval) is
  'Internal: the time that is so much later; infinite if it is out of range.';

-- The time that is so much earlier.
create or replace function {{.schema}}._gw_before(
  at  timestamptz,
  age interval
)
  returns timestamptz
  language sql
  stable
as $$
  select case when age operator(pg_catalog.>) interval '5000 years' then pg_catalog.timestamptz '-infinity'
              when age operator(pg_catalog.<) interval '-290000 years' then pg_catalog.timestamptz 'infinity'
              else at operator(pg_catalog.-) age end
$$;

comment on function {{.schema}}._gw_before(timestamptz, interval) is
  'Internal: the time that is so much earlier; infinite if it is out of range.';

-- The time that is so many seconds later.
create or replace function {{.schema}}._gw_after_seconds(
  at      timestamptz,
  seconds double precision
)
  returns timestamptz
  language sql
  stable
as $$
  select case when seconds operator(pg_catalog.>) 9e12::double precision then pg_catalog.timestamptz 'infinity'
              when seconds operator(pg_catalog.<) (-1.5e11)::double precision then pg_catalog.timestamptz '-infinity'
              else at operator(pg_catalog.+) (seconds operator(pg_catalog.*) interval '1 second') end
$$;

comment on function {{.schema}}._gw_after_seconds(timestamptz, double precision) is
  'Internal: the time that is so many seconds later; infinite if it is out of range.';
