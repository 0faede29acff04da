-- Named queues that a worker which is not registered has locked for minutes, with jobs that have been due for minutes.
-- The lock may belong to a long job, to a dead worker, or to a Node worker that was stopped without freeing it. A
-- worker that has claimed a job since then is alive. _gw_find_stale_locks() reports locks older than four hours,
-- _gw_find_orphaned_queues() locks without a running job.
create or replace function {{.schema}}._gw_find_held_queues(
  pages bigint default 10000, patience interval default '5 minutes')
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  jobs_seen   real := {{.schema}}._gw_share_seen('_private_jobs', pages);
  queues_seen real := {{.schema}}._gw_share_seen('_private_job_queues', pages);
begin
  return query
  with held as materialized (
    select q.id, q.queue_name, q.locked_by, q.locked_at
      from {{.schema}}._private_job_queues as q tablesample system (queues_seen)
     where q.locked_at between now() - interval '4 hours' and now() - patience
       and q.locked_by <> 'pause'
       and not exists (select from {{.schema}}._gw_workers as w where w.id = q.locked_by)
  ), seen as materialized (
    select j.job_queue_id, j.is_available and j.run_at <= now() as is_due, greatest(j.run_at, j.updated_at) as since,
           j.locked_at, j.locked_by
      from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
     where j.locked_at is not null
        or j.job_queue_id = any (array(select h.id from held as h))
  ), behind as (
    select s.job_queue_id, count(*) filter (where s.is_due) as due, min(s.since) filter (where s.is_due) as since,
           bool_or(s.locked_at is not null) as runs
      from seen as s
     group by s.job_queue_id
  )
  select 'warning',
         'held queue',
         'queue ' || h.queue_name,
         format('Worker %s, which is not registered, has held its lock for %s. Due jobs of the queue: %s, the oldest '
                'for %s. They wait until the job of that worker ends or, if the worker is dead, until the lock is four '
                'hours old.',
                h.locked_by, {{.schema}}._gw_age(h.locked_at),
                {{.schema}}._gw_estimate(b.due, jobs_seen), {{.schema}}._gw_age(b.since)),
         format(e'If the worker is dead, free its jobs and queues, by %s, or with:\nselect %s.force_unlock_workers(array[%L]);',
                {{.schema}}._gw_command(array['unlock', h.locked_by]), {{.schema}}._gw_namespace(), h.locked_by)
    from held as h
    join behind as b on b.job_queue_id = h.id
   where b.since <= now() - patience
     and (b.runs or jobs_seen < 100)
     and not exists (select from seen as s where s.locked_by = h.locked_by and s.locked_at > h.locked_at + patience)
   order by h.locked_at
   limit 10;
end;
$$;

comment on function {{.schema}}._gw_find_held_queues(bigint, interval) is 'Internal: named queues that a worker which is not registered has locked for minutes, with jobs that have been due for minutes.';
