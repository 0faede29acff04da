-- Joins two JSON arrays into one. The function joins the texts, so each element keeps its spelling and the result is
-- never longer than both inputs; jsonb would expand 1e131071 from 8 bytes to 131072 digits.
-- Raises GWBPL if the result is larger than the setting max_payload.
create or replace function {{.schema}}._gw_joined_payload(waiting json, added json, job_key text)
  returns json language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  white_space constant text := E' \t\n\r'; -- all white space that JSON has
  joined  text;
  bytes   bigint;
  allowed bigint;
begin
  joined := case when json_array_length(waiting) = 0 then added::text
                 when json_array_length(added) = 0 then waiting::text
                 else left(rtrim(waiting::text, white_space), -1) || ', ' || substr(ltrim(added::text, white_space), 2) end;
  bytes := octet_length(joined);
  if bytes > 1048576 then -- the lowest value of the setting
    allowed := {{.schema}}.setting('max_payload')::bigint;
    if bytes > allowed then
      raise exception 'The job under key ''%'' would have a payload of % bytes, at most % are allowed.', job_key, bytes, allowed
        using errcode = 'GWBPL',
              detail = format('The waiting job has an array of %s bytes, the call adds %s bytes. The waiting job is unchanged.',
                              octet_length(waiting::text), octet_length(added::text)),
              hint = 'Let the job run first, use another key, or raise the setting max_payload.';
    end if;
  end if;
  return joined::json;
end;
$$;

-- Returns the payload of a replaced job. Two arrays are joined; otherwise the new payload counts. The function is a
-- single expression, so PostgreSQL inlines it.
create or replace function {{.schema}}._gw_merged_payload(waiting json, added json, job_key text)
  returns json language sql stable
as $$
  select case when pg_catalog.json_typeof(waiting) operator(pg_catalog.=) 'array'
                   and pg_catalog.json_typeof(added) operator(pg_catalog.=) 'array'
              then {{.schema}}._gw_joined_payload(waiting, added, job_key)
              else coalesce(added, '{}') end
$$;
