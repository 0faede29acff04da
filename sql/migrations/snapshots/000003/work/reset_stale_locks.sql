-- Frees jobs and queues whose owner has held them for longer than expiry, and returns how many jobs. They may run again
-- at once; the attempt counts. A job that dies so in its last attempt keeps the reason in last_error.
-- Owners that are not registered, such as Node workers, keep four hours whatever expiry is. A registered one that was seen
-- within setting dead_after lives, and keeps what it holds for as long as it likes.
-- Locks: job rows by id, then queue rows by id; passes by what somebody else has locked.
-- Raises GWWEX unless expiry is positive and at most 1000 years.
create or replace function {{.schema}}.reset_stale_locks(
  expiry interval default '4 hours'
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  dead_after interval := {{.schema}}.setting('dead_after')::interval;
  freed      bigint;
begin
  perform {{.schema}}._gw_check_expiry(expiry);

  with stale as (
    select j.id
      from {{.schema}}._private_jobs as j
      left join {{.schema}}._gw_workers as w on w.id = j.locked_by
     where j.locked_at < now() - case when w.id is null then interval '4 hours' else greatest(expiry, dead_after) end
       and (w.id is null or w.last_seen_at < clock_timestamp() - dead_after)
     order by j.id
       for update of j skip locked
  ), reset as (
    update {{.schema}}._private_jobs as j
       set last_error = case when j.attempts = j.max_attempts
                             then 'Worker ' || coalesce(j.locked_by, 'unknown') || ' reported no outcome of the last attempt.'
                             else j.last_error end,
           attempts   = least(j.attempts, j.max_attempts),
           run_at     = greatest(j.run_at, now()),
           locked_at  = null,
           locked_by  = null
      from stale
     where j.id = stale.id
    returning j.id
  )
  select count(*) into freed from reset;

  with stale as (
    select q.id
      from {{.schema}}._private_job_queues as q
      left join {{.schema}}._gw_workers as w on w.id = q.locked_by
     where q.locked_at < now() - case when w.id is null then interval '4 hours' else greatest(expiry, dead_after) end
       and (w.id is null or w.last_seen_at < clock_timestamp() - dead_after)
     order by q.id
       for no key update of q skip locked
  )
  update {{.schema}}._private_job_queues as q
     set locked_at = null, locked_by = null
    from stale
   where q.id = stale.id;

  if freed > 0 then
    perform {{.schema}}._gw_wake(freed);
  end if;
  return freed;
end;
$$;

comment on function {{.schema}}.reset_stale_locks(interval) is
  'Frees jobs and queues locked for longer than expiry and returns how many jobs. Owners that are not registered keep four hours; registered ones that were seen within the setting dead_after keep what they hold.';
