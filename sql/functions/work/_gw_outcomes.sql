-- Shared parts of complete, fail and return.

-- Raises GWWOB unless each id is given once and leases, if given, has one element per id.
create or replace function {{.schema}}._gw_check_outcomes(
  job_ids bigint[],
  leases  bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if leases is not null and cardinality(leases) <> cardinality(job_ids) then
    raise exception 'There must be one lease for each job: % job ids, % leases.', cardinality(job_ids), cardinality(leases)
      using errcode = 'GWWOB';
  elsif array_position(job_ids, null) is not null then
    raise exception 'A job id must not be null.' using errcode = 'GWWOB';
  elsif (select count(distinct u.id) from unnest(job_ids) as u (id)) < cardinality(job_ids) then
    raise exception 'A job id must not be repeated in one call.' using errcode = 'GWWOB';
  end if;
end;
$$;

comment on function {{.schema}}._gw_check_outcomes(bigint[], bigint[]) is
  'Internal: raises GWWOB unless each id is given once and leases, if given, has one element per id.';

-- Unlocks those of these queues that this worker holds. A trigger notifies sleeping workers if a job is waiting there.
-- Negative numbers are groups: their jobs free slots.
-- Locks: queue rows by id, for no key update, because producers above READ COMMITTED hold key locks (see
-- _gw_hold_names).
create or replace function {{.schema}}._gw_free_queues(
  worker_id text,
  queue_ids integer[],
  job_ids   bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
declare
  freed bigint;
begin
  if 0 > any (queue_ids) then
    perform {{.schema}}._gw_leave_lanes(job_ids);
  end if;
  if 0 < any (queue_ids) then
    perform from {{.schema}}._private_job_queues as q
      where q.id = any (queue_ids) and q.locked_by = worker_id
      order by q.id for no key update;
    update {{.schema}}._private_job_queues as q
       set locked_at = null, locked_by = null
     where q.id = any (queue_ids) and q.locked_by = worker_id;
    get diagnostics freed = row_count;
    -- If a recovery has freed a queue while this call waited for its row, this call holds the row now, and a worker that the
    -- recovery has notified may have passed over it.
    if freed < cardinality(queue_ids)
       and freed < (select count(distinct u.id) from unnest(queue_ids) as u (id) where u.id > 0) then
      perform {{.schema}}._gw_wake(1);
    end if;
  end if;
end;
$$;

comment on function {{.schema}}._gw_free_queues(text, integer[], bigint[]) is
  'Internal: unlocks those of these queues that this worker holds, and frees the slots of these jobs.';

-- Notifies workers if one of these jobs is ready. It is for a call that has left some of these jobs as they are: if it
-- has waited for a row that another transaction was freeing, it holds that row now, and a worker that the other
-- transaction notified may have skipped it.
create or replace function {{.schema}}._gw_wake_for(
  job_ids bigint[]
)
  returns void
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
begin
  if exists (select
               from {{.schema}}._private_jobs as j
              where j.id = any (job_ids)
                and coalesce(j.is_available, false) -- no condition of an index of available jobs
                and j.run_at <= clock_timestamp()) then
    perform {{.schema}}._gw_wake(1);
  end if;
end;
$$;

comment on function {{.schema}}._gw_wake_for(bigint[]) is
  'Internal: notifies workers if one of these jobs is ready; for a call that has left some of them as they are.';
