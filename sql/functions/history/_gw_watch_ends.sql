-- Makes sure that the trigger exists that records the ends of jobs and notifies those who wait for them. It is created when it
-- is first needed, because an idle trigger costs a completion a tenth. Returns false if open transactions that have changed
-- jobs did not end within the lock timeout.
-- Security definer: only the owner of the jobs may create the trigger. Whoever calls this can only create this one.
-- Locks: the table of jobs, in share row exclusive mode, only if the trigger is missing.
create or replace function {{.schema}}._gw_watch_ends()
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
begin
  if exists (select from pg_trigger as t
              where t.tgrelid = '{{ replace "'" "''" .schema }}._private_jobs'::regclass and t.tgname = '_gw_jobs_ended') then
    return true;
  end if;
  begin
    lock table {{.schema}}._private_jobs in share row exclusive mode;
    if not exists (select from pg_trigger as t
                    where t.tgrelid = '{{ replace "'" "''" .schema }}._private_jobs'::regclass and t.tgname = '_gw_jobs_ended') then
      create trigger _gw_jobs_ended
        after delete on {{.schema}}._private_jobs
        referencing old table as ended
        for each statement
        execute function {{.schema}}._gw_jobs_ended();
      comment on trigger _gw_jobs_ended on {{.schema}}._private_jobs is
        'Records the ends of jobs of kept tasks, and notifies those who wait for jobs; see keep_task() and await_jobs().';
    end if;
  exception when lock_not_available then
    return false;
  end;
  return true;
end;
$$;

comment on function {{.schema}}._gw_watch_ends() is
  'Internal: makes sure that the trigger exists that records the ends of jobs. Returns false if jobs are locked for too long.';
