-- What every end of jobs calls, after it has changed or deleted their rows: a worker holds these jobs no longer. The
-- functions here that set no more than search_path are called by functions that force plans by indexes.

-- Frees the queues of these jobs in which the claim of the worker holds no other job (see _gw_queue_locked_at), and
-- tells the gates of their limits. A trigger notifies workers if a job is waiting in a queue.
-- kind: 'ended'; 'returned' if the jobs have not started, so that rates take them back; 'recovered' if their worker
-- seems dead, so that they keep their places at strict limits for some time.
-- at_once: the transaction ends after this, so that one look at all freed queues serves. The trigger, which looks at
-- the commit and costs a third of a queued job, is switched off by gw.told.
-- Locks: queue rows by id.
create or replace function {{.schema}}._gw_release(
  worker_id text, jobs {{.schema}}._gw_ended_job[], kind text, at_once boolean default false)
  returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  queues integer; -- of the jobs
  held   integer; -- how many of them the worker held
  freed  integer[];
begin
  if exists (select from unnest(jobs) as j where j.queue_id > 0) then
    perform set_config('gw.told', 't', true) where at_once; -- for the trigger's condition; every update parses it, so it is short
    with ended as materialized (
      select array_agg(e.queue_id) as queue_ids, array_agg(e.jobs) as counts, array_agg(e.held_at) as held_ats
        from (select j.queue_id, count(*) as jobs, max(j.held_at) as held_at
                from unnest(jobs) as j
               where j.queue_id > 0
               group by j.queue_id
               order by j.queue_id) as e
    ), released as (
      update {{.schema}}._private_job_queues as q
         set (locked_at, locked_by) = (
               select l.locked_at, case when l.locked_at is not null then q.locked_by end
                 from (select {{.schema}}._gw_queue_locked_at(q.locked_at, e.held_ats[p.place], e.counts[p.place]) as locked_at
                         from (select width_bucket(q.id, e.queue_ids) as place offset 0) as p) as l)
        from ended as e
       where q.id = any (e.queue_ids) and q.locked_by = worker_id
      returning q.id, q.locked_at
    )
    select cardinality(e.queue_ids), (select count(*) from released), array(select r.id from released as r where r.locked_at is null)
      into queues, held, freed
      from ended as e;
    perform set_config('gw.told', '', true) where at_once;
  end if;
  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) > 0 then
    perform {{.schema}}._gw_take_paused(freed);
    perform {{.schema}}._gw_release_gates(jobs, kind);
  end if;

  -- This is a separate statement, after the queues are free; see _gw_wake. If a recovery has freed a queue while this
  -- call waited for its row, this call holds the row now, and a worker that the recovery has notified may have passed
  -- over it.
  if held < queues
     or at_once and exists (select from unnest(freed) as f (queue_id)
                     where (select true
                              from {{.schema}}._private_jobs as j
                             where j.is_available and j.job_queue_id = f.queue_id and j.run_at <= clock_timestamp()
                             limit 1)) then -- a lateral subquery; a join could read all jobs
    perform {{.schema}}._gw_wake(1);
  end if;
end;
$$;

-- Gives those of these queues that are paused and free to their pauses. Whoever frees queues calls it after that, in
-- the same
-- transaction: pause() writes the row of the queue first, so this later statement sees every pause that has left the
-- queue to its worker. The function is security definer, because force_unlock_workers runs with the rights of its
-- caller.
create or replace function {{.schema}}._gw_take_paused(queue_ids integer[])
  returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off
  set jit = off
as $$
begin
  update {{.schema}}._private_job_queues as q
     set locked_at = now(), locked_by = 'pause'
   where q.id = any (queue_ids) and q.locked_at is null
     and exists (select
                   from {{.schema}}._gw_pauses as p
                  where p.queue_name = q.queue_name and (p.until > clock_timestamp() or p.until is null));
end;
$$;

-- Tells the gates of the limits of these jobs that they run no longer, with a row of _gw_gate_ends for each gate, and
-- notifies the workers if jobs may wait for it. A rate takes back a start less what it has made up for since: later
-- starts may have counted on that. Nothing is decided here, and no row waited for: the next claim that holds the limit
-- counts. A lane or gate that is missing is ignored; a heartbeat counts anew.
-- kind: see _gw_release. The function is security definer, because some of its callers run with the rights of theirs.
create or replace function {{.schema}}._gw_release_gates(jobs {{.schema}}._gw_ended_job[], kind text)
  returns void language plpgsql security definer set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  gate_ids integer[];
begin
  with queued as (
    delete from {{.schema}}._gw_queued_lanes as l
     where l.job_id = any (array(select j.job_id from unnest(jobs) as j where j.queue_id > 0))
    returning l.job_id, l.lane_id
  ), told as (
    insert into {{.schema}}._gw_gate_ends as e (limit_id, gate_id, jobs, returned, at)
    select g.limit_id, g.id, sum(o.jobs),
           case when kind = 'returned' then
             sum(o.jobs * greatest(0, 1 - coalesce(extract(epoch from clock_timestamp() - o.held_at)::double precision * n.rate
                                                   / extract(epoch from n.per)::double precision, 0)))
           end,
           coalesce(case when kind = 'recovered'
                         then {{.schema}}._gw_after(clock_timestamp(), (select l.strict from {{.schema}}._gw_limits as l where l.id = g.limit_id)) end,
                    '-infinity')
      from (select l.id, l.held_at, count(*) as jobs
              from (select j.queue_id as id, j.held_at from unnest(jobs) as j where j.queue_id <= -16
                    union all
                    select q.lane_id, j.held_at from queued as q join unnest(jobs) as j on j.job_id = q.job_id) as l
             group by l.id, l.held_at) as o
     cross join lateral (select l.gates from {{.schema}}._gw_lanes as l where l.id = o.id offset 0) as l
     cross join unnest(l.gates) as u (gate_id)
     cross join lateral (select g.id, g.limit_id, g.rate, g.per from {{.schema}}._gw_gates as g where g.id = u.gate_id offset 0) as g
     cross join lateral (select coalesce(g.rate, l.rate) as rate, coalesce(g.per, l.per) as per
                           from {{.schema}}._gw_limits as l
                          where l.id = g.limit_id
                         offset 0) as n
     group by g.limit_id, g.id
    returning e.gate_id
  )
  select array_agg(t.gate_id) into gate_ids from told as t;
  -- Jobs may wait for one of these gates: in a lane that waits for it, or a claim under way may be about to let one
  -- wait, which is still open, or incoming, for everybody else.
  if gate_ids is not null
     and (exists (select from {{.schema}}._gw_lanes as l where l.gate is null)
          or (select true from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id = -1 order by j.task_id limit 1) -- by _gw_incoming_jobs
          or exists (select from unnest(gate_ids) as u (id)
                      where (select true from {{.schema}}._gw_lanes as l where l.gate > 0 and l.gate = u.id limit 1))) then
    perform {{.schema}}._gw_wake(1);
  end if;
end;
$$;
