-- Trigger: a named queue became free, by whatever statement. If its next job is due, somebody must come for it: the
-- worker that frees a queue may have looked for work before the queue was free.
create or replace function {{.schema}}._gw_queue_freed()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
begin
  if exists (select from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id = new.id and j.run_at <= clock_timestamp()) then
    perform {{.schema}}._gw_wake(1);
  end if;
  return null;
end;
$$;

comment on function {{.schema}}._gw_queue_freed() is
  'Trigger on _private_job_queues: wakes a worker when a queue becomes free and a due job waits in it.';
