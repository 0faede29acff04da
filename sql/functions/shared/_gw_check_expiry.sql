-- Raises GWWEX unless an expiry is a positive interval of at most 1000 years.
create or replace function {{.schema}}._gw_check_expiry(expiry interval)
  returns void language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if expiry is null or expiry <= interval '0' then
    raise exception 'Expiry must be a positive interval, not %.', coalesce(expiry::text, 'null') using errcode = 'GWWEX';
  elsif expiry > interval '1000 years' then
    raise exception 'Expiry must be at most 1000 years, not %.', expiry using errcode = 'GWWEX';
  end if;
end;
$$;
