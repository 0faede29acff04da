-- Compute times from delays given by callers. A result outside the range of timestamptz becomes infinite, so no delay
-- raises an error. Each function is a single expression, so callers inline it. The given time is a current one.

-- Returns the time after a delay.
create or replace function {{.schema}}._gw_after(at timestamptz, delay interval)
  returns timestamptz language sql stable
as $$
  select case when delay operator(pg_catalog.>) interval '290000 years' then pg_catalog.timestamptz 'infinity'
              when delay operator(pg_catalog.<) interval '-5000 years' then pg_catalog.timestamptz '-infinity'
              else at operator(pg_catalog.+) delay end
$$;

comment on function {{.schema}}._gw_after(timestamptz, interval) is 'Internal: returns the time after a delay.';

-- Returns the time before an interval.
create or replace function {{.schema}}._gw_before(at timestamptz, age interval)
  returns timestamptz language sql stable
as $$
  select case when age operator(pg_catalog.>) interval '5000 years' then pg_catalog.timestamptz '-infinity'
              when age operator(pg_catalog.<) interval '-290000 years' then pg_catalog.timestamptz 'infinity'
              else at operator(pg_catalog.-) age end
$$;

comment on function {{.schema}}._gw_before(timestamptz, interval) is 'Internal: returns the time before an interval.';

-- Returns the time after a number of seconds.
create or replace function {{.schema}}._gw_after_seconds(at timestamptz, seconds double precision)
  returns timestamptz language sql stable
as $$
  select case when seconds operator(pg_catalog.>) 9e12::double precision then pg_catalog.timestamptz 'infinity'
              when seconds operator(pg_catalog.<) (-1.5e11)::double precision then pg_catalog.timestamptz '-infinity'
              else at operator(pg_catalog.+) (seconds operator(pg_catalog.*) interval '1 second') end
$$;

comment on function {{.schema}}._gw_after_seconds(timestamptz, double precision) is 'Internal: returns the time after a number of seconds.';
