-- Shared parts of complete, fail and return.

-- Raises GWWOB unless each id is given once and leases, if given, has one element per id.
create or replace function {{.schema}}._gw_check_outcomes(job_ids bigint[], leases bigint[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if leases is not null and cardinality(leases) <> cardinality(job_ids) then
    raise exception 'There must be one lease for each job: % job ids, % leases.', cardinality(job_ids), cardinality(leases)
      using errcode = 'GWWOB';
  elsif (select count(distinct u.id) from unnest(job_ids) as u (id)) < cardinality(job_ids) then
    raise exception 'A job id must not be null, nor be repeated in one call.' using errcode = 'GWWOB';
  end if;
end;
$$;

comment on function {{.schema}}._gw_check_outcomes(bigint[], bigint[]) is 'Internal: raises GWWOB unless each id is given once and leases, if given, has one element per id.';

-- Locks those of these jobs that the worker holds, by the lease beside them or by any where that is null, for a call
-- that changes them. Returns them in the order of their ids.
-- Locks: job rows by id.
create or replace function {{.schema}}._gw_hold(worker_id text, job_ids bigint[], leases bigint[])
  returns {{.schema}}._gw_ended_job[] language plpgsql set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  -- Leases are found by binary search, so ids must ascend. A join with the jobs could get a plan that reads all jobs.
  select array_agg(u.id order by u.id), array_agg(u.lease order by u.id) into job_ids, leases
    from unnest(job_ids, leases) as u (id, lease);
  return array(
    select row(j.id, j.job_queue_id, j.locked_at)::{{.schema}}._gw_ended_job
      from {{.schema}}._private_jobs as j
     where j.id = any (job_ids) and j.locked_by is not distinct from worker_id
       and {{.schema}}._gw_is_held(j.locked_at, leases[width_bucket(j.id, job_ids)])
     order by j.id
       for no key update);
end;
$$;

comment on function {{.schema}}._gw_hold(text, bigint[], bigint[]) is 'Internal: locks those of these jobs that the worker holds, by the lease beside them or by any where that is null, for a call that changes them.';

-- A claim may hold several jobs of a named queue; see queue_batch in get_job_batch. All of them have the same
-- locked_at, and the row of the queue counts them: its locked_at is theirs minus one microsecond for each job beyond
-- the first. Each of them that ends, by whatever outcome and in whatever order, adds a microsecond; the last one frees
-- the queue. So a queue that is held for one job has the locked_at of the job, as in Graphile Worker, whose statements
-- know no other case. What unlocks single jobs has to call _gw_release. What unlocks all jobs of a worker unlocks its
-- queues without it. Returns the new locked_at of a queue, null if it is free. held_at: the locked_at of the jobs of
-- the claim, of which ended have ended. A claim holds at most 1000 jobs of a queue, so a queue that was locked further
-- away is not that of the claim. The function is a single expression, so callers inline it.
create or replace function {{.schema}}._gw_queue_locked_at(queue_locked_at timestamptz, held_at timestamptz, ended bigint)
  returns timestamptz language sql stable
as $$
  select case when (held_at operator(pg_catalog.-) queue_locked_at) operator(pg_catalog.>=) (ended operator(pg_catalog.*) interval '1 microsecond')
               and (held_at operator(pg_catalog.-) queue_locked_at)
                   operator(pg_catalog.<=) ((ended operator(pg_catalog.+) 999) operator(pg_catalog.*) interval '1 microsecond')
              then queue_locked_at operator(pg_catalog.+) (ended operator(pg_catalog.*) interval '1 microsecond') end
$$;

comment on function {{.schema}}._gw_queue_locked_at(timestamptz, timestamptz, bigint) is 'Internal: a claim may hold several jobs of a named queue; see queue_batch in get_job_batch.';

-- Returns those of these locked jobs that have not started: a claim runs the jobs of a named queue one after the other,
-- so only the first of those that have not ended can have.
-- The function is security definer, because force_unlock_workers runs with the rights of its caller.
create or replace function {{.schema}}._gw_unstarted_jobs(job_ids bigint[])
  returns bigint[] language sql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
  set jit = off
as $$
  select coalesce(array_agg(n.id), '{}')
    from (select j.id, j.job_queue_id, j.locked_by, j.locked_at,
                 row_number() over (partition by j.job_queue_id, j.locked_by, j.locked_at order by j.priority, j.run_at, j.id) as number
            from {{.schema}}._private_jobs as j
           where j.id = any (job_ids) and j.job_queue_id > 0 and j.locked_at is not null) as n
   where n.number > 1
$$;

comment on function {{.schema}}._gw_unstarted_jobs(bigint[]) is 'Internal: returns those of these locked jobs that have not started: a claim runs the jobs of a named queue one after the other, so only the first of those that have not ended can have.';

-- Notifies workers of those of these jobs that are available, also of those that the call has left as they are: if it
-- has waited for a row that another transaction was freeing, it holds that row now, and a worker that the other
-- transaction notified may have skipped it.
create or replace function {{.schema}}._gw_wake_for(job_ids bigint[])
  returns void language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
  perform {{.schema}}._gw_wake(count(*) filter (where j.run_at <= clock_timestamp()))
     from {{.schema}}._private_jobs as j
    where j.id = any (job_ids) and coalesce(j.is_available, false) -- no condition of an index of available jobs
   having count(*) > 0;
end;
$$;

comment on function {{.schema}}._gw_wake_for(bigint[]) is 'Internal: notifies workers of those of these jobs that are available, also of those that the call has left as they are: if it has waited for a row that another transaction was freeing, it holds that row now, and a worker that the other transaction notified may have skipped it.';
