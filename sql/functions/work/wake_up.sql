-- For a worker that has more than enough to do: forgets the mark of fall_asleep, so that with setting notify = idle
-- producers need not tell it of more. Without the call the mark is over by itself.
-- Call it and fall_asleep one after the other, never at the same time.
-- Locks: the worker's mark.
create or replace function {{.schema}}.wake_up(
  worker_id text
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
begin
  delete from {{.schema}}._gw_sleepers as s where s.worker_id = wake_up.worker_id;
end;
$$;

comment on function {{.schema}}.wake_up(text) is
  'Says that a worker does not wait any more and need not be told of jobs. It may be left out: the mark that fall_asleep made is over by itself.';
