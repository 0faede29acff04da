-- Tells workers to look again. job_count is how many jobs became ready: Node wakes as many workers and ignores 0, ours
-- look at every message. The same message twice in one transaction is sent once.
create or replace function {{.schema}}._gw_wake(
  job_count bigint
)
  returns void
  language sql
as $$
  select pg_catalog.pg_notify('jobs:insert', '{"count":' || job_count || '}')
$$;

comment on function {{.schema}}._gw_wake(bigint) is
  'Internal: tells workers on jobs:insert that so many jobs became ready; 0 when only a due time moved.';
