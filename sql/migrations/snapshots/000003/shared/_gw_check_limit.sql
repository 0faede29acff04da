-- Raises GWILM if an argument that limits how much is read is negative.
create or replace function {{.schema}}._gw_check_limit(argument text, value bigint)
  returns void language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if value < 0 then
    raise exception '% must be 0 or more, not %.', argument, value using errcode = 'GWILM';
  end if;
end;
$$;

comment on function {{.schema}}._gw_check_limit(text, bigint) is 'Internal: raises GWILM if an argument that limits how much is read is negative.';
