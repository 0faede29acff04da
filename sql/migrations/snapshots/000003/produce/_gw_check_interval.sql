-- Refuses an interval that is null, negative or longer than 1000 years.
-- Raises GWOIV.
create or replace function {{.schema}}._gw_check_interval(name text, value interval, may_be_0 boolean)
  returns void language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if (value between interval '0' and interval '1000 years') is not true or value = interval '0' and not may_be_0 then
    raise exception 'The argument % is %; it must be %, and at most 1000 years.',
      name, coalesce('''' || value || '''', 'null'), case when may_be_0 then 'at least 0' else 'more than 0' end
      using errcode = 'GWOIV';
  end if;
end;
$$;

comment on function {{.schema}}._gw_check_interval(text, interval, boolean) is 'Internal: refuses an interval that is null, negative or longer than 1000 years.';
