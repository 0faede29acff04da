-- Makes sure that the trigger exists that records the ends of jobs and notifies those who wait for them. It is created
-- when it is first needed, because an idle trigger costs a completion a tenth. Returns false if open transactions that
-- have changed jobs did not end within the lock timeout.
-- Security definer: only the owner of the jobs may create the trigger. Whoever calls this can only create this one.
-- Locks: the table of jobs, in share row exclusive mode, only if the trigger is missing.
-- aside: see _gw_watch_ends_aside.
create or replace function {{.schema}}._gw_watch_ends(aside boolean default false)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '1s'
as $$
declare
  seconds constant bigint := date_part('epoch', clock_timestamp());
begin
  if {{.schema}}._gw_watches_ends() then
    return true;
  elsif aside and (select abs(seconds - w.last_value) < 60 from {{.schema}}._gw_watch_cursor as w) then
    lock table {{.schema}}._private_jobs in share row exclusive mode nowait;
  else
    perform setval('{{ replace "'" "''" .schema }}._gw_watch_cursor', seconds),
            set_config('lock_timeout', '100ms', true)
      where aside;
    lock table {{.schema}}._private_jobs in share row exclusive mode;
  end if;
  if not {{.schema}}._gw_watches_ends() then -- nobody has created it while this call waited for the lock
    create trigger _gw_jobs_ended
      after delete on {{.schema}}._private_jobs
      referencing old table as ended
      for each statement
      execute function {{.schema}}._gw_jobs_ended();
    comment on trigger _gw_jobs_ended on {{.schema}}._private_jobs is
      'Records the ends of jobs of kept tasks, and notifies those who wait for jobs; see keep_task() and await_jobs().';
  end if;
  return true;
exception when lock_not_available then
  return false;
end;
$$;

-- _gw_watch_ends for whoever waits for jobs, and for heartbeats while somebody does. It costs others nothing: it waits
-- for the lock at most once a minute in the whole database, a tenth of a second, because who waits for it holds up all
-- who change jobs after it; otherwise it takes the lock only if it is free. The sequence tells when somebody last
-- waited, even if that is rolled back.
create or replace function {{.schema}}._gw_watch_ends_aside()
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return {{.schema}}._gw_watch_ends(aside => true);
end;
$$;

-- Returns whether the trigger exists that records the ends of jobs.
create or replace function {{.schema}}._gw_watches_ends()
  returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (select from pg_trigger as t
                  where t.tgrelid = '{{ replace "'" "''" .schema }}._private_jobs'::regclass
                    and t.tgname = '_gw_jobs_ended');
end;
$$;
