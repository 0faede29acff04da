-- Records that a worker is alive, and lets it recover the jobs of dead workers. A worker calls it every next_in, in a
-- transaction of its own, and at once if next_in is 0. The setting beat_every is the usual interval.
--
-- job_ids, leases: the jobs that the worker runs. held_ids, held_leases: those that it still holds, with their new
-- leases; locks older than an hour are renewed, so that the sweeps of other workers do not free them. A job that is
-- missing is lost, and its handler should end. canceled_ids, reasons: jobs of this worker that cancel_jobs has
-- canceled, whether in job_ids or not; their handlers should end, and the worker reports the outcomes as usual.
-- registered false: the worker is not registered and should register.
-- running, waiting, claimed_ids: how many jobs the handlers run, how many claimed jobs wait for a handler, and their
-- ids, running ones first, of which a thousand are kept: for those who look, such as list_workers. Null: not told.
-- drained: drain_worker was called, and the worker must claim no more jobs; it runs those that it has.
-- alone_waits: a suspect is waiting for get_job_alone; a worker that holds other jobs calls make_room.
-- died, freed: the workers whose jobs are now all recovered, and the number of jobs that this call freed.
--
-- A worker is dead if it was silent for the setting dead_after. Only a worker that has itself sent heartbeats without a
-- gap for that time, to this server and over one connection, can decide that. So after a restart, a failover or a pause
-- of the database every worker gets the full time again. reconnected: the worker's connection broke after its previous
-- heartbeat, as far as it can tell. Only one of these workers recovers jobs at a time; it holds a row lock that ends
-- with its transaction.
-- Locks: the worker's row; then the jobs and queues to renew, skipping rows that others have locked; then what
-- _gw_recover_workers locks. What fails for other workers is recorded for doctor(); the heartbeat counts all the same.
-- Raises GWWOB if job_ids and leases do not match.
create or replace function {{.schema}}.heartbeat(
  worker_id   text,
  job_ids     bigint[] default '{}',
  leases      bigint[] default '{}',
  reconnected boolean  default false,
  running     integer  default null,
  waiting     integer  default null,
  claimed_ids bigint[] default null
)
  returns table (
    registered boolean, held_ids bigint[], held_leases bigint[], next_in interval, alone_waits boolean, died text[],
    freed bigint, canceled_ids bigint[], reasons text[], drained boolean) language plpgsql
  set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  dead_after interval := {{.schema}}.setting('dead_after')::interval;
  beat_at    timestamptz;
  me         record;
  more       boolean  := false;
begin
  alone_waits := false;
  died := '{}';
  freed := 0;

  select w.last_seen_at, w.beating_since, w.recovered_at, w.tasks, w.drained_at into me
    from {{.schema}}._gw_workers as w
   where w.id = worker_id
     for no key update; -- a recovery of this worker has ended once this row is locked
  registered := found;
  drained := me.drained_at is not null;
  beat_at := clock_timestamp();
  if registered then
    if reconnected is not false
       or beat_at - me.last_seen_at not between interval '0' and dead_after / 2
       or me.beating_since < {{.schema}}._gw_serving_since() or me.recovered_at is not null then
      me.beating_since := beat_at;
    end if;
    perform {{.schema}}._gw_take_sample();
    update {{.schema}}._gw_workers as w
       set last_seen_at = beat_at, beating_since = me.beating_since, recovered_at = null,
           told_at = case when heartbeat.running is not null then beat_at end, running = heartbeat.running, waiting = heartbeat.waiting,
           claimed_ids = case when heartbeat.running is not null
                          then array(select u.id from unnest(heartbeat.claimed_ids) as u (id) where u.id is not null limit 1000) else '{}' end
     where w.id = worker_id;
  end if;

  select coalesce(array_agg(r.job_id), '{}'), coalesce(array_agg(r.lease), '{}') into held_ids, held_leases
    from {{.schema}}.renew_leases(worker_id, job_ids, leases) as r;
  select coalesce(array_agg(c.job_id), '{}'), coalesce(array_agg(c.reason), '{}') into canceled_ids, reasons
    from {{.schema}}._gw_canceled_jobs(worker_id) as c
   where c.job_id = any (held_ids) or (c.job_id = any (job_ids)) is not true; -- the worker has lost the others

  if registered and me.beating_since <= beat_at - dead_after
     and (exists (select from {{.schema}}._gw_workers as w
                   where w.recovered_at is null and w.last_seen_at < beat_at - dead_after)
          or exists (select from {{.schema}}._gw_recovery)) and {{.schema}}._gw_is_keeper() then
    begin
      select r.died, r.freed, r.more into died, freed, more from {{.schema}}._gw_recover_workers(dead_after) as r;
      perform {{.schema}}._gw_note_failure('recovery', null);
    exception when others then
      died := '{}';
      freed := 0;
      more := false;
      perform {{.schema}}._gw_note_failure('recovery', sqlerrm);
    end;
  end if;

  if exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0)
     or exists (select from {{.schema}}._gw_cancels as c where c.job_id > 0) then
    perform {{.schema}}._gw_try('_gw_drop_ended') where {{.schema}}._gw_is_keeper();
    -- Forbidden flags are not checked here; the claim checks them.
    alone_waits := registered and exists (
      select from {{.schema}}._gw_waiting_suspects(
        {{.schema}}._gw_new_claim(worker_id, nullif(me.tasks, '{}'), 1, null, now(), null, null, 1)));
  end if;

  if pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) > 0 and {{.schema}}._gw_is_keeper() then
    more := {{.schema}}._gw_try('_gw_sweep_limits') or more;
    more := {{.schema}}._gw_try('_gw_sweep_pauses') or more;
  end if;

  if exists (select from {{.schema}}._gw_expected as e where e.notifies and e.ended_at is null) then
    perform {{.schema}}._gw_watch_ends_aside();
  end if;

  next_in := case when more then interval '0' else {{.schema}}._gw_beat_every() end;
  return next;
end;
$$;

comment on function {{.schema}}.heartbeat(text, bigint[], bigint[], boolean, integer, integer, bigint[]) is
  'Records that a worker is alive, and returns which of these jobs it still holds by the leases beside them: held_ids with their new leases; a job that is missing is lost. reconnected: the connection broke after the previous heartbeat. Call it again after next_in. registered false: register again. alone_waits: a suspect is waiting for get_job_alone; a worker that holds other jobs calls make_room. died, freed: dead workers whose jobs are recovered, and the number of jobs that this call freed. canceled_ids: jobs that cancel_jobs has canceled, for the reasons beside them; end their handlers. running, waiting, claimed_ids: how many jobs the handlers run, how many claimed jobs wait, and their ids, running ones first; list_workers() and others show them. drained: claim no more jobs; see drain_worker().';

-- Returns whether this transaction is the one that recovers jobs of dead workers in this schema; if there is none, it
-- becomes that one. The function locks a row, because any role may take advisory locks.
create or replace function {{.schema}}._gw_is_keeper()
  returns boolean language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform from {{.schema}}._gw_turns as t where t.name = 'recovery' for update skip locked;
  return found or {{.schema}}._gw_new_turn('recovery');
end;
$$;

comment on function {{.schema}}._gw_is_keeper() is 'Internal: returns whether this transaction is the one that recovers jobs of dead workers in this schema; if there is none, it becomes that one.';

-- Returns since when this server accepts connections. Tests replace this function.
create or replace function {{.schema}}._gw_serving_since()
  returns timestamptz language sql stable set search_path = pg_catalog, pg_temp
as $$
  select pg_postmaster_start_time()
$$;

comment on function {{.schema}}._gw_serving_since() is 'Internal: returns since when this server accepts connections.';
