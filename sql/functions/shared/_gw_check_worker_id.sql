-- Raises GWWID unless a worker may have this id: 1 to 128 characters, but not pause, which is who holds paused queues.
create or replace function {{.schema}}._gw_check_worker_id(worker_id text)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if (length(worker_id) between 1 and 128) is not true then
    raise exception 'Worker id must be 1 to 128 characters long.' using errcode = 'GWWID';
  elsif worker_id = 'pause' then
    raise exception 'Worker id must not be ''pause'': it stands for the pauses of queues.' using errcode = 'GWWID';
  end if;
end;
$$;
