-- Two arrays as one. Their texts are joined, and each element stays as it was written: jsonb would write the 8 bytes of
-- 1e131071 as 131072 digits. So the result is never longer than both together.
-- Raises GWBPL when it is larger than the setting max_payload.
create or replace function {{.schema}}._gw_joined_payload(
  waiting json,
  added   json,
  job_key text
)
  returns json
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  white_space constant text := E' \t\n\r'; -- all that JSON knows
  joined  text;
  bytes   bigint;
  allowed bigint;
begin
  joined := case when json_array_length(waiting) = 0 then added::text
                 when json_array_length(added) = 0 then waiting::text
                 else left(rtrim(waiting::text, white_space), -1) || ', ' || substr(ltrim(added::text, white_space), 2) end;
  bytes := octet_length(joined);
  if bytes > 1048576 then -- the setting's least
    allowed := {{.schema}}.setting('max_payload')::bigint;
    if bytes > allowed then
      raise exception 'The job under key ''%'' would have a payload of % bytes, at most % are allowed.', job_key, bytes, allowed
        using errcode = 'GWBPL',
              detail = format('The array that waits has %s bytes, the one to be added %s. The job waits unchanged.',
                              octet_length(waiting::text), octet_length(added::text)),
              hint = 'Let the job run first, take another key, or raise the setting max_payload.';
    end if;
  end if;
  return joined::json;
end;
$$;

comment on function {{.schema}}._gw_joined_payload(json, json, text) is
  'Internal: two JSON arrays as one, with their elements as they were written; raises GWBPL for one that is too large.';

-- The payload of a job that is replaced: two arrays become one. One expression, so that callers inline it.
create or replace function {{.schema}}._gw_merged_payload(
  waiting json,
  added   json,
  job_key text
)
  returns json
  language sql
  stable
as $$
  select case when pg_catalog.json_typeof(waiting) operator(pg_catalog.=) 'array'
                   and pg_catalog.json_typeof(added) operator(pg_catalog.=) 'array'
              then {{.schema}}._gw_joined_payload(waiting, added, job_key)
              else coalesce(added, '{}') end
$$;

comment on function {{.schema}}._gw_merged_payload(json, json, text) is
  'Internal: the payload of a job that is replaced.';
