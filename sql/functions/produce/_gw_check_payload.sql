-- Raises GWBPL for a payload whose text is larger than the setting max_payload. The size of the text counts, not the
-- compressed size in a table. Reading the text is expensive, so callers check only payloads of which pg_column_size is
-- above 2000; a smaller datum cannot expand to 1 MB, the lowest value of the setting.
create or replace function {{.schema}}._gw_check_payload(payload json, spec_number bigint default null)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  advice  constant text := 'Store large data elsewhere and pass a reference to it, or raise the setting max_payload.';
  bytes   bigint := octet_length(payload::text);
  allowed bigint := {{.schema}}.setting('max_payload')::bigint;
begin
  if bytes <= allowed then
    return;
  end if;
  if spec_number is null then
    raise exception 'Payload has % bytes, at most % are allowed.', bytes, allowed
      using errcode = 'GWBPL', hint = advice;
  end if;
  raise exception 'Payload has % bytes, at most % are allowed.', bytes, allowed
    using errcode = 'GWBPL', hint = advice, detail = 'It is spec ' || spec_number || ' of the call.';
end;
$$;
