-- Raises GWIST unless a state of jobs, which may be null, exists.
create or replace function {{.schema}}._gw_check_state(state text)
  returns void language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if state not in ('ready', 'scheduled', 'running', 'failed') then
    raise exception 'There is no state ''%''; jobs are ready, scheduled, running or failed.', state using errcode = 'GWIST';
  end if;
end;
$$;

comment on function {{.schema}}._gw_check_state(text) is 'Internal: raises GWIST unless a state of jobs, which may be null, exists.';
