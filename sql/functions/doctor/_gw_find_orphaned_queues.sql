-- Queues that are locked although none of their jobs is: the row of the running job was deleted by hand, or by
-- complete_jobs after its lock had expired. A claim changes job and queue in one statement, and so does an outcome, so
-- no statement sees one without the other. The check needs all jobs; if only a sample is read, it is skipped.
create or replace function {{.schema}}._gw_find_orphaned_queues(pages bigint default 10000)
  returns setof {{.schema}}._gw_finding language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if {{.schema}}._gw_share_seen('_private_jobs', pages) < 100 then
    return;
  end if;
  return query
  select 'warning',
         'orphaned queue',
         'queue ' || q.queue_name,
         format('It has been locked by worker %s for %s, but none of its jobs runs. Its jobs wait until '
                'a worker looks for stale locks (setting stale_sweep_every).',
                coalesce(q.locked_by, 'unknown'), {{.schema}}._gw_age(q.locked_at)),
         -- The condition includes the time of the lock, because the queue may have been freed and claimed in the
         -- meantime.
         format(e'Free it with:\nupdate %1$s._private_job_queues set locked_at = null, locked_by = null where id = %2$s '
                'and %1$s._gw_lease(locked_at) = %3$s;',
                {{.schema}}._gw_namespace(), q.id, {{.schema}}._gw_lease(q.locked_at))
    from {{.schema}}._private_job_queues as q
         tablesample system ({{.schema}}._gw_share_seen('_private_job_queues', pages))
   where q.locked_at is not null
     and q.locked_by is distinct from 'pause'
     and q.id <> all (array(select j.job_queue_id
                              from {{.schema}}._private_jobs as j
                             where j.locked_at is not null and j.job_queue_id is not null))
   order by q.locked_at
   limit 10;
end;
$$;
