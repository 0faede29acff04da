-- Refuses a payload that is larger than the setting max_payload. Its text is what counts, however little of it a table
-- that it comes from takes by compression; that costs reading it, so callers ask only for what has more than 2000 bytes:
-- no less can become the megabyte that is the setting's least.
-- Raises GWBPL.
create or replace function {{.schema}}._gw_check_payload(
  payload     json,
  spec_number bigint default null
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  bytes   bigint := octet_length(payload::text);
  allowed bigint := {{.schema}}.setting('max_payload')::bigint;
begin
  if bytes <= allowed then
    return;
  end if;
  raise exception 'Payload has % bytes, at most % are allowed.', bytes, allowed
    using errcode = 'GWBPL',
          detail = coalesce('It is spec ' || spec_number || ' of the call.', ''),
          hint = 'Keep what is large elsewhere and pass where it is, or raise the setting max_payload.';
end;
$$;

comment on function {{.schema}}._gw_check_payload(json, bigint) is
  'Internal: raises GWBPL for a payload that is larger than the setting max_payload.';
