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

-- Returns the leases by which a worker holds these jobs: the given ones, or the present ones in place of nulls, whose jobs it
-- locks. Null where it does not hold the job.
-- Locks: job rows in the order of job_ids.
create or replace function {{.schema}}._gw_known_leases(
  worker_id text,
  job_ids   bigint[],
  leases    bigint[]
)
  returns bigint[]
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
begin
  if array_position(leases, null) is null then
    return leases;
  end if;
  return array(
    select coalesce(u.lease, (select {{.schema}}._gw_lease(j.locked_at)
                                from {{.schema}}._private_jobs as j
                               where j.id = u.id and j.locked_by = worker_id
                                 for update))
      from unnest(job_ids, leases) with ordinality as u (id, lease, place)
     order by u.place);
end;
$$;

comment on function {{.schema}}._gw_known_leases(text, bigint[], bigint[]) is
  'Internal: returns the leases by which a worker holds these jobs, the present ones where none is given.';

-- A claim may hold several jobs of a named queue; see queue_batch in get_job_batch. All of them have the same locked_at, and the
-- row of the queue counts them: its locked_at is theirs minus one microsecond for each job beyond the first. Each of them that
-- ends, by whatever outcome and in whatever order, adds a microsecond; the last one frees the queue. So a queue that is held for
-- one job has the locked_at of the job, as in Graphile Worker, whose statements know no other case.
-- What unlocks single jobs has to call this function. What unlocks all jobs of a worker unlocks its queues without it.
-- Returns the new locked_at of a queue, null if it is free. ended_in, ended_ats: the queues of all jobs that have ended, in
-- ascending order, and the locked_at of each. A claim holds at most 1000 jobs of a queue, so a locked_at further away is not that
-- of the claim. The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_queue_locked_at(
  queue_locked_at timestamptz,
  queue_id        integer,
  ended_in        integer[],
  ended_ats       timestamptz[]
)
  returns timestamptz
  language sql
  stable
as $$
  select case when (queue_locked_at
                    operator(pg_catalog.+) ((pg_catalog.width_bucket(queue_id, ended_in)
                                             operator(pg_catalog.-) pg_catalog.width_bucket((queue_id operator(pg_catalog.-) 1), ended_in))
                                            operator(pg_catalog.*) interval '1 microsecond'))
                   operator(pg_catalog.>=) (ended_ats[pg_catalog.width_bucket(queue_id, ended_in)] operator(pg_catalog.-) interval '999 microseconds')
               and (queue_locked_at
                    operator(pg_catalog.+) ((pg_catalog.width_bucket(queue_id, ended_in)
                                             operator(pg_catalog.-) pg_catalog.width_bucket((queue_id operator(pg_catalog.-) 1), ended_in))
                                            operator(pg_catalog.*) interval '1 microsecond'))
                   operator(pg_catalog.<=) ended_ats[pg_catalog.width_bucket(queue_id, ended_in)]
              then queue_locked_at
                   operator(pg_catalog.+) ((pg_catalog.width_bucket(queue_id, ended_in)
                                            operator(pg_catalog.-) pg_catalog.width_bucket((queue_id operator(pg_catalog.-) 1), ended_in))
                                           operator(pg_catalog.*) interval '1 microsecond')
         end
$$;

comment on function {{.schema}}._gw_queue_locked_at(timestamptz, integer, integer[], timestamptz[]) is
  'Internal: returns the new locked_at of a queue in which jobs of a claim have ended, null if it is free.';

-- Returns those of these locked jobs that have not started: a claim runs the jobs of a named queue one after the other, so only
-- the first of those that have not ended can have.
-- The function is security definer, because force_unlock_workers runs with the rights of its caller.
create or replace function {{.schema}}._gw_unstarted_jobs(
  job_ids bigint[]
)
  returns bigint[]
  language sql
  stable
  security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
  select coalesce(array_agg(n.id), '{}')
    from (select j.id, j.job_queue_id, j.locked_by, j.locked_at,
                 row_number() over (partition by j.job_queue_id, j.locked_by, j.locked_at order by j.priority, j.run_at, j.id) as number
            from {{.schema}}._private_jobs as j
           where j.id = any (job_ids) and j.job_queue_id > 0 and j.locked_at is not null) as n
   where n.number > 1
$$;

comment on function {{.schema}}._gw_unstarted_jobs(bigint[]) is
  'Internal: returns those of these locked jobs that wait behind another job of their queue and claim.';

-- Records in those of these queues that this worker holds that jobs have ended, and frees the queues in which the claim holds no
-- other job. A trigger notifies sleeping workers if a job is waiting there. Negative numbers are groups: these jobs of them no longer run.
-- The arrays have one element per job; locked_ats are those by which the worker held them.
-- Locks: queue rows by id, for no key update, because producers above READ COMMITTED hold key locks (see
-- _gw_hold_names).
create or replace function {{.schema}}._gw_free_queues(
  worker_id  text,
  queue_ids  integer[],
  job_ids    bigint[],
  locked_ats timestamptz[]
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
    perform {{.schema}}._gw_free_lanes(queue_ids);
    perform {{.schema}}._gw_put_fronts(job_ids);
  end if;
  if 0 < any (queue_ids) then
    select array_agg(u.id order by u.id), array_agg(u.locked_at order by u.id)
      into queue_ids, locked_ats
      from unnest(queue_ids, locked_ats) as u (id, locked_at)
     where u.id > 0;
    perform from {{.schema}}._private_job_queues as q
      where q.id = any (queue_ids) and q.locked_by = worker_id
      order by q.id for no key update;
    update {{.schema}}._private_job_queues as q
       set locked_at = {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, queue_ids, locked_ats),
           locked_by = case when {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, queue_ids, locked_ats) is not null then q.locked_by end
     where q.id = any (queue_ids) and q.locked_by = worker_id;
    get diagnostics freed = row_count;
    -- If a recovery has freed a queue while this call waited for its row, this call holds the row now, and a worker that the
    -- recovery has notified may have passed over it.
    if freed < cardinality(queue_ids)
       and freed < (select count(distinct u.id) from unnest(queue_ids) as u (id)) then
      perform {{.schema}}._gw_wake(1);
    end if;
  end if;
end;
$$;

comment on function {{.schema}}._gw_free_queues(text, integer[], bigint[], timestamptz[]) is
  'Internal: frees those of these queues that this worker holds and in which the claim holds no other job, and makes claims read the groups of these jobs and their lanes.';

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
