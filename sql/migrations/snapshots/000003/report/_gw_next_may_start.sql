-- Returns whether the next job of a streak may start after a job of it got this state: not if the job itself may be the
-- next one of its queue again before the streak has ended. The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_next_may_start(state text, run_at timestamptz)
  returns boolean language sql stable
as $$
  select state operator(pg_catalog.=) 'failed' or run_at operator(pg_catalog.>=) (pg_catalog.now() operator(pg_catalog.+) interval '1 second')
$$;

comment on function {{.schema}}._gw_next_may_start(text, timestamptz) is 'Internal: returns whether the next job of a streak may start after a job of it got this state: not if the job itself may be the next one of its queue again before the streak has ended.';
