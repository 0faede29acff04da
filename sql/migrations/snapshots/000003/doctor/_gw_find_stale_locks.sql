-- Jobs and queues that workers left locked: for more than four hours by any worker, or by a registered worker that was
-- not seen for twice the setting dead_after. Any running registered worker would have recovered them by then.
create or replace function {{.schema}}._gw_find_stale_locks(pages bigint default 10000)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  dead_after   interval    := {{.schema}}.setting('dead_after')::interval;
  silent_since timestamptz := now() - 2 * dead_after;
  jobs_seen    real        := {{.schema}}._gw_share_seen('_private_jobs', pages);
  queues_seen  real        := {{.schema}}._gw_share_seen('_private_job_queues', pages);
begin
  return query
  with held as (
    select j.locked_by as owner, j.locked_at, 1 as job
      from {{.schema}}._private_jobs as j tablesample system (jobs_seen)
     where j.locked_at is not null
    union all
    select q.locked_by, q.locked_at, 0
      from {{.schema}}._private_job_queues as q tablesample system (queues_seen)
     where q.locked_at is not null and q.locked_by is distinct from 'pause'
  ), stale as (
    select h.owner, h.locked_at, h.job, w.last_seen_at, w.host, w.pid,
           coalesce(w.last_seen_at < silent_since, false) as silent,
           coalesce(w.last_seen_at >= now() - dead_after, false) as lives
      from held as h
      left join {{.schema}}._gw_workers as w on w.id = h.owner
     where h.locked_at < now() - interval '4 hours' or w.last_seen_at < silent_since
  )
  select 'warning',
         'stale lock',
         'worker ' || coalesce(s.owner, 'unknown'),
         format('It has held jobs: %s, queues: %s; the oldest for %s. %s Until they are freed, these jobs and the next '
                'jobs of these queues wait.',
                {{.schema}}._gw_estimate(sum(s.job), jobs_seen), {{.schema}}._gw_estimate(sum(1 - s.job), queues_seen),
                {{.schema}}._gw_age(min(s.locked_at)),
                case when s.silent
                     then format('It was last seen %s ago (host %s, pid %s).', {{.schema}}._gw_age(max(s.last_seen_at)),
                                 coalesce(max(s.host), 'unknown'), coalesce(max(s.pid)::text, 'unknown'))
                     when s.lives then 'It is alive but has not renewed them for four hours, so it may not know of them.'
                     else 'Locks expire after four hours, but no worker has searched for stale locks since then.'
                end),
         case when s.lives then 'Restart the worker; while it is alive, its locks are not freed.'
              when s.silent and s.owner is not null
              then format(e'If the worker is dead, free its jobs and queues, by %s, or with:\nselect %s.force_unlock_workers(array[%L]);',
                          {{.schema}}._gw_command(array['unlock', s.owner]), {{.schema}}._gw_namespace(), s.owner)
              else format(e'Free them with:\nselect %s.reset_stale_locks();', {{.schema}}._gw_namespace())
         end
    from stale as s
   group by s.owner, s.silent, s.lives
   order by min(s.locked_at)
   limit 10;
end;
$$;

comment on function {{.schema}}._gw_find_stale_locks(bigint) is 'Internal: jobs and queues that workers left locked: for more than four hours by any worker, or by a registered worker that was not seen for twice the setting dead_after.';
