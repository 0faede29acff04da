-- Says that a worker lives, and lets it see to what concerns all: the jobs of workers that are dead. To be called every
-- next_in, in a transaction of its own, and at once if next_in is 0; the setting beat_every says how often.
--
-- job_ids, leases: the jobs that the worker runs. held_ids, held_leases: those that it still holds, with the leases that
-- count from now on, for locks older than an hour are renewed so that the sweeps of others leave them alone; a job that
-- is missing is lost, and its handler should end. canceled_ids, reasons: jobs of the worker that cancel_jobs has canceled,
-- among job_ids or not; their handlers should end, too, and then the jobs be reported as ever. registered false: the
-- worker is unknown, and should register.
-- alone_waits: a job waits for get_job_alone; who holds others asks make_room.
-- died, freed: the workers whose jobs are all recovered now, and how many jobs this call freed.
--
-- A worker is dead when it was silent for the setting dead_after. Only somebody who has beaten without a gap for as long,
-- to this server and over a connection that lasted, can tell: after a restart, a failover or a pause of the database,
-- everyone gets the full time again. reconnected: the connection broke since the last beat, as far as the worker knows.
-- One of those who can tell recovers at a time: by a lock that ends with this transaction, which a dead one cannot hold.
-- Locks: the worker's row; then jobs and queues to renew, passing by those that others have locked; then what
-- _gw_recover_workers locks.
-- Raises GWWOB when job_ids and leases do not fit together.
create or replace function {{.schema}}.heartbeat(
  worker_id   text,
  job_ids     bigint[] default '{}',
  leases      bigint[] default '{}',
  reconnected boolean  default false
)
  returns table (
    registered   boolean,
    held_ids     bigint[],
    held_leases  bigint[],
    next_in      interval,
    alone_waits  boolean,
    died         text[],
    freed        bigint,
    canceled_ids bigint[],
    reasons      text[]
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  dead_after interval := {{.schema}}.setting('dead_after')::interval;
  beat_at    timestamptz;
  me         record;
  more       boolean  := false;
begin
  next_in := {{.schema}}._gw_beat_every();
  alone_waits := false;
  died := '{}';
  freed := 0;
  canceled_ids := '{}';
  reasons := '{}';

  select w.last_seen_at, w.beating_since, w.recovered_at, w.tasks into me
    from {{.schema}}._gw_workers as w
   where w.id = worker_id
     for no key update; -- whoever recovers this worker has ended when this is locked
  registered := found;
  beat_at := clock_timestamp();
  if registered then
    if reconnected is not false
       or beat_at - me.last_seen_at not between interval '0' and dead_after / 2
       or me.beating_since < {{.schema}}._gw_serving_since()
       or me.recovered_at is not null then
      me.beating_since := beat_at;
    end if;
    update {{.schema}}._gw_workers as w
       set last_seen_at = beat_at, beating_since = me.beating_since, recovered_at = null
     where w.id = worker_id;
  end if;

  select coalesce(array_agg(r.job_id), '{}'), coalesce(array_agg(r.lease), '{}')
    into held_ids, held_leases
    from {{.schema}}.renew_leases(worker_id, job_ids, leases) as r;

  if registered and me.beating_since <= beat_at - dead_after
     and (exists (select from {{.schema}}._gw_workers as w
                   where w.recovered_at is null and w.last_seen_at < beat_at - dead_after)
          or exists (select from {{.schema}}._gw_recovery))
     and {{.schema}}._gw_is_keeper() then
    select r.died, r.freed, r.more into died, freed, more
      from {{.schema}}._gw_recover_workers(dead_after) as r;
    if more then
      next_in := '0';
    end if;
  end if;

  if exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0) then
    perform {{.schema}}._gw_drop_spent_suspects() where {{.schema}}._gw_is_keeper();
    alone_waits := {{.schema}}._gw_alone_waits(me.tasks);
  end if;

  if exists (select from {{.schema}}._gw_cancels as c where c.job_id > 0) then
    perform {{.schema}}._gw_drop_spent_cancels() where {{.schema}}._gw_is_keeper();
    select coalesce(array_agg(c.job_id), '{}'), coalesce(array_agg(coalesce(c.reason, '')), '{}')
      into canceled_ids, reasons
      from {{.schema}}._gw_cancels as c
      join {{.schema}}._private_jobs as j on j.id = c.job_id
     where c.worker_id = heartbeat.worker_id and j.locked_by = c.worker_id and j.attempts > j.max_attempts;
  end if;
  return next;
end;
$$;

comment on function {{.schema}}.heartbeat(text, bigint[], bigint[], boolean) is
  'Says that a worker lives, and which of these jobs it still holds by the leases beside them: held_ids with the leases that count from now on; one that is missing is lost. reconnected: the connection broke since the last beat. Call it again after next_in. registered false: register again. alone_waits: a job waits for get_job_alone; who holds others asks make_room. died, freed: workers that were found dead and are recovered, and how many jobs this call freed. canceled_ids: jobs that cancel_jobs has canceled, for the reasons beside them; end their handlers.';

-- Whether this transaction is the one that looks after the jobs of dead workers in this schema; if nobody else is, it is
-- from now on. By the lock of a row, for any role may take advisory locks.
create or replace function {{.schema}}._gw_is_keeper()
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform from {{.schema}}._gw_turns as t where t.name = 'recovery' for update skip locked;
  return found;
end;
$$;

comment on function {{.schema}}._gw_is_keeper() is
  'Internal: whether this transaction looks after the jobs of dead workers; one at a time does.';

-- Since when this server serves. A test may say otherwise.
create or replace function {{.schema}}._gw_serving_since()
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, pg_temp
as $$
  select pg_postmaster_start_time()
$$;

comment on function {{.schema}}._gw_serving_since() is
  'Internal, for heartbeat(): since when this server serves.';
