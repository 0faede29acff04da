-- Deletes the names of one kind, task or queue, that no job uses, and returns how many.
-- A job never ends up with the id of a collected name: a producer holds its name's lock, shared, or else the row of the
-- name, from before its look-up to its end. We take first that lock, exclusively, and then the row, waiting for neither;
-- where we get both, no producer is between look-up and commit, and the delete, a later statement with a newer snapshot,
-- sees every job that one has committed. A producer that comes after waits for our end and makes the name anew.
-- (offset 0: locks only for what the sub-select lets through.)
create or replace function {{.schema}}._gw_collect_names(
  kind text,
  keep text[]
)
  returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
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

comment on function {{.schema}}._gw_collect_names(text, text[]) is
  'Internal: deletes the task or queue names that no job uses and no transaction in flight may be using; returns how many.';
