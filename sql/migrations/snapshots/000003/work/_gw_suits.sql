-- Whether a waiting job is due and one that a worker may take. One expression, so that the claims inline it.
create or replace function {{.schema}}._gw_suits(
  run_at          timestamptz,
  task_id         integer,
  flags           jsonb,
  due             timestamptz,
  task_ids        integer[],
  forbidden_flags text[]
)
  returns boolean
  language sql
  immutable
as $$
  select run_at <= due and (task_id = any (task_ids)) is not false and (flags ?| forbidden_flags) is not true
$$;

comment on function {{.schema}}._gw_suits(timestamptz, integer, jsonb, timestamptz, integer[], text[]) is
  'Internal: whether a job is due, of one of these tasks (all if null) and without any of these flags.';
