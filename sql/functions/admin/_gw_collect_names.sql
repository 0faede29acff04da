-- Deletes the task or queue names that no job uses, and returns their number.
-- A job never gets the id of a deleted name. A producer holds either the shared name lock or a lock on the row of the
-- name, from before its lookup until its transaction ends. This function takes first the name lock, exclusively, and
-- then the row, without waiting for either. If it gets both, no producer is between its lookup and its commit, and the
-- delete, a later statement with a newer snapshot, sees every job that a producer has committed. A later producer waits
-- until this transaction ends and creates the name again.
-- (offset 0: only rows that the subquery returns are locked.)
create or replace function {{.schema}}._gw_collect_names(kind text, keep text[])
  returns bigint language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  names     text[];
  ids       integer[];
  collected bigint;
begin
  if kind = 'task' then
    select array_agg(u.identifier)
      into names
      from (select t.identifier
              from {{.schema}}._private_tasks as t
             where t.identifier <> all (coalesce(keep, '{}'))
               and not exists (select from {{.schema}}._private_jobs as j where j.task_id = t.id)
            offset 0) as u
     where pg_try_advisory_xact_lock({{.schema}}._gw_name_lock('task', u.identifier));
    ids := array(
      select t.id
        from {{.schema}}._private_tasks as t
       where t.identifier = any (names)
       order by t.id
         for update skip locked);
    delete from {{.schema}}._private_tasks as t
     where t.id = any (ids)
       and not exists (select from {{.schema}}._private_jobs as j where j.task_id = t.id);
  else
    select array_agg(u.queue_name)
      into names
      from (select q.queue_name
              from {{.schema}}._private_job_queues as q
             where q.locked_at is null
               and not exists (select from {{.schema}}._private_jobs as j where j.job_queue_id = q.id)
            offset 0) as u
     where pg_try_advisory_xact_lock({{.schema}}._gw_name_lock('queue', u.queue_name));
    ids := array(
      select q.id
        from {{.schema}}._private_job_queues as q
       where q.queue_name = any (names) and q.locked_at is null
       order by q.id
         for update skip locked);
    delete from {{.schema}}._private_job_queues as q
     where q.id = any (ids)
       and not exists (select from {{.schema}}._private_jobs as j where j.job_queue_id = q.id);
  end if;
  get diagnostics collected = row_count;
  return collected;
end;
$$;
