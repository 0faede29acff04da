-- The payload of a job that is replaced: two arrays become one. One expression, so that callers inline it.
create or replace function {{.schema}}._gw_merged_payload(
  waiting json,
  added   json
)
  returns json
  language sql
  immutable
as $$
  select case when json_typeof(waiting) = 'array' and json_typeof(added) = 'array'
              then (waiting::jsonb || added::jsonb)::json
              else coalesce(added, '{}') end
$$;

comment on function {{.schema}}._gw_merged_payload(json, json) is
  'Internal: the payload of a job that is replaced.';
