-- Completes jobs of one claim as complete_job_batch does, for a worker that completes many jobs of queues. Only jobs that this worker
-- still holds are completed (by the lease, if one is given). Returns their ids.
-- The trigger on freed queues would run once per queue, which costs a third of a queued job. So the trigger is switched
-- off by gw.told, and this function checks all freed queues in one statement. It checks them now, not at the commit, so
-- a worker must call it in a transaction of its own. For the same reason it does what _gw_release does to queues in the statement
-- that deletes the jobs, which saves a fifth.
-- Locks: job rows by id, then queue rows by id.
create or replace function {{.schema}}._gw_complete_queued(worker_id text, job_ids bigint[], lease bigint)
  returns bigint[] language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
  completed bigint[];
  freed     integer[];
  ended     {{.schema}}._gw_ended_job[]; -- null without limits
  any_other boolean; -- another worker held a queue
begin
  perform set_config('gw.told', 't', true); -- for the trigger's condition; every update parses it, so it is short
  with gone as (
    delete from {{.schema}}._private_jobs as j
     where j.id = any (job_ids)
       and j.locked_by = worker_id
       and coalesce((select {{.schema}}._gw_locked_at(lease)), j.locked_at) = j.locked_at
    returning j.id, j.job_queue_id, j.locked_at
  ), ended as materialized (
    select array_agg(g.job_queue_id order by g.job_queue_id) as queue_ids, array_agg(g.locked_at order by g.job_queue_id) as locked_ats
      from gone as g
     where g.job_queue_id > 0
  ), freed as (
    update {{.schema}}._private_job_queues as q
       set locked_at = {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, e.queue_ids, e.locked_ats),
           locked_by = case when {{.schema}}._gw_queue_locked_at(q.locked_at, q.id, e.queue_ids, e.locked_ats) is not null then q.locked_by end
      from ended as e
     where q.id = any (e.queue_ids) and q.locked_by = worker_id
    returning q.id, q.locked_at
  )
  select array(select g.id from gone as g), array(select f.id from freed as f where f.locked_at is null),
         case when pg_relation_size('{{ replace "'" "''" .schema }}._gw_limit_changes'::regclass) > 0
              then array(select row(g.id, g.job_queue_id, g.locked_at)::{{.schema}}._gw_ended_job from gone as g) end,
         (select count(*) from freed) < (select count(distinct g.job_queue_id) from gone as g where g.job_queue_id > 0)
    into completed, freed, ended, any_other;
  perform set_config('gw.told', '', true);

  -- These are separate statements, after the queues are free; see _gw_wake.
  if ended is not null then
    perform {{.schema}}._gw_take_paused(freed);
    perform {{.schema}}._gw_release_gates(ended, 'ended');
  end if;
  if any_other
     or exists (select from unnest(freed) as f (queue_id)
                 where (select true
                          from {{.schema}}._private_jobs as j
                         where j.is_available and j.job_queue_id = f.queue_id and j.run_at <= clock_timestamp()
                         limit 1)) then -- a lateral subquery; a join could read all jobs
    perform {{.schema}}._gw_wake(1);
  end if;
  return completed;
end;
$$;

comment on function {{.schema}}._gw_complete_queued(text, bigint[], bigint) is
  'Internal: completes jobs of one claim and notifies once for all queues that it frees. Returns the ids of the completed jobs.';
