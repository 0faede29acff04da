-- Jobs that have been due for some minutes while no worker is running: no registered worker was seen in that time, and
-- no job or queue was claimed. The claims show whether workers that do not register, such as Node's, are running. A job
-- counts from its run_at or its last change, whichever is later, so a job that was added late or is deferred repeatedly
-- is not reported. Jobs in a locked queue are not counted: _gw_find_held_queues() and _gw_find_stale_locks() report
-- these queues.
create or replace function {{.schema}}._gw_find_no_worker(
  pages bigint default 10000, patience interval default '5 minutes')
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  jobs_seen     real := {{.schema}}._gw_share_seen('_private_jobs', pages);
  queues_seen   real := {{.schema}}._gw_share_seen('_private_job_queues', pages);
  locked_queues integer[];
  last_claim    timestamptz;
begin
  if exists (select from {{.schema}}._gw_workers as w where w.last_seen_at >= now() - patience) then
    return;
  end if;
  select coalesce(array_agg(q.id), '{}'), max(q.locked_at) filter (where q.locked_by is distinct from 'pause')
    into locked_queues, last_claim
    from {{.schema}}._private_job_queues as q tablesample system (queues_seen)
   where q.locked_at is not null;

  return query
  with looked as (
    select count(*) filter (where j.is_available and j.run_at <= now()) as due,
           min(greatest(j.run_at, j.updated_at)) filter (where j.is_available) as since,
           greatest(max(j.locked_at), last_claim) as last_claim
      from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
     where coalesce(j.job_queue_id, 0) <> all (locked_queues)
        or j.locked_at is not null
  )
  select -- A sample may miss a few running jobs among many waiting ones.
         case when jobs_seen < 100 then 'warning' else 'critical' end,
         'no worker',
         'schema ' || {{.schema}}._gw_namespace(),
         format('Due jobs: %s, the oldest for %s, but no registered worker was seen in the last %s minutes, and no job '
                'was claimed in that time. They wait until a worker starts.',
                {{.schema}}._gw_estimate(l.due, jobs_seen), {{.schema}}._gw_age(l.since),
                round(extract(epoch from patience)::numeric / 60)),
         format('Start a worker, such as gw-run, or read in the log of the workers why they do not reach the database. '
                'If workers that do not register are running, such as Node''s, they do not have the tasks of these '
                'jobs: %s shows which.',
                {{.schema}}._gw_command(array['tasks']))
    from looked as l
   where l.since <= now() - patience
     and coalesce(l.last_claim < now() - patience, true);
end;
$$;
