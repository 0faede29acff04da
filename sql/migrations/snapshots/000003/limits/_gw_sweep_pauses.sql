-- For heartbeats of the keeper: does what nobody else does for pauses. Returns whether there is more to do at once.
-- Pauses that have ended by themselves are deleted. Queues of pauses are locked anew before others take the lock for a
-- stale one, and those that were busy when their pause began, or that were freed without regard to it, are taken.
-- Locks: rows of queues by id, then of pauses, then of jobs by id; skips locked ones.
create or replace function {{.schema}}._gw_sweep_pauses()
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  queue_ids integer[];
begin
  perform {{.schema}}._gw_end_queue_pauses();
  delete from {{.schema}}._gw_pauses as p
   where p.id = any (array(select o.id
                             from {{.schema}}._gw_pauses as o
                            where o.until <= clock_timestamp()
                              and not exists (select from {{.schema}}._private_job_queues as q where q.queue_name = o.queue_name)
                            order by o.id
                            limit 100
                              for update skip locked));
  queue_ids := array(
    select q.id
      from {{.schema}}._gw_pauses as p
      join {{.schema}}._private_job_queues as q on q.queue_name = p.queue_name
     where q.locked_at is null or q.locked_by = 'pause' and q.locked_at < now() - interval '1 hour'
     order by q.id
     limit 1000
       for no key update of q skip locked);
  if queue_ids <> '{}' then
    update {{.schema}}._private_job_queues as q set locked_at = now() where q.id = any (queue_ids) and q.locked_by = 'pause';
    perform {{.schema}}._gw_take_paused(queue_ids);
  end if;
  return {{.schema}}._gw_hide_jobs();
end;
$$;

comment on function {{.schema}}._gw_sweep_pauses() is 'Internal: for heartbeats of the keeper: does what nobody else does for pauses.';

-- Node workers know no pauses, but do not see incoming jobs. So waiting jobs of paused tasks without a queue become
-- incoming, and incoming jobs become plain again if neither a pause nor a limit applies to their task. Our claims do
-- not depend on it. Returns whether there is more to do at once.
-- Jobs to hide are read once by id from each pause on, five thousand in a step, and then those in front, where a job is
-- that has become available since.
-- Locks: pauses, then jobs by id; skips locked ones.
create or replace function {{.schema}}._gw_hide_jobs()
  returns boolean language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  step    constant integer := 5000;
  paused  integer[];
  from_id bigint;
  last_id bigint; -- null: no jobs are left from from_id on
  hidden  bigint[];
  shown   bigint[];
begin
  select array_agg(t.id), min(p.hidden_to) into paused, from_id
    from {{.schema}}._gw_pauses as p
    join {{.schema}}._private_tasks as t on t.identifier = p.task
   where coalesce(p.until, 'infinity') > clock_timestamp();
  if paused is not null then
    select max(j.id), array_agg(j.id) filter (where j.task_id = any (paused)) into last_id, hidden
      from (select j.id, j.task_id from {{.schema}}._private_jobs as j where j.id > from_id order by j.id limit step) as j;
    hidden := hidden || array(
      select j.id
        from (select j.id, j.task_id
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id is null
               order by j.priority, j.run_at, j.id
               limit step) as j
       where j.task_id = any (paused));
    update {{.schema}}._gw_pauses as p
       set hidden_to = coalesce(last_id, 9223372036854775807)
     where p.id = any (array(select o.id
                               from {{.schema}}._gw_pauses as o
                              where o.task is not null and o.hidden_to < coalesce(last_id, 9223372036854775807)
                                for update skip locked));
  end if;
  shown := array(
    select j.id
      from {{.schema}}._private_tasks as t
     cross join lateral (
            select j.id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = -1 and j.task_id = t.id
             order by j.priority, j.run_at, j.id
             limit step) as j
     where not exists (select from {{.schema}}._gw_limits as l where l.tasks is null or t.identifier = any (l.tasks))
       and (t.id = any (paused)) is not true
     limit step);

  update {{.schema}}._private_jobs as j
     set job_queue_id = case when j.job_queue_id is null then -1 end
   where j.id = any (array(select w.id
                             from {{.schema}}._private_jobs as w
                            where w.id = any (hidden || shown) and w.is_available
                              and (w.job_queue_id is null and w.id = any (hidden) or w.job_queue_id = -1 and w.id = any (shown))
                            order by w.id
                              for update skip locked));
  perform {{.schema}}._gw_wake(cardinality(shown)) where shown <> '{}';
  return last_id is not null or cardinality(shown) = step;
end;
$$;

comment on function {{.schema}}._gw_hide_jobs() is 'Internal: node workers know no pauses, but do not see incoming jobs.';
