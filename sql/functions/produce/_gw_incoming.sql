-- Returns those of the tasks whose jobs without a named queue are added with -1 in job_queue_id, because a limit
-- applies to the task, or it is paused; null: none. Claims check what applies, so an answer of an older snapshot does
-- no harm; the number hides the jobs from Node workers. Callers call it only if _gw_limit_changes has a page. It has
-- the rights of the owner, because roles that add jobs may not read limits.
create or replace function {{.schema}}._gw_incoming(identifiers text[])
  returns text[] language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set jit = off -- add_job forbids scans of tables, which makes this query look expensive
as $$
begin
  if not exists (select from {{.schema}}._gw_limits as l where l.id > 0 and (l.tasks is null or l.tasks && identifiers)
                 union all
                 select from {{.schema}}._gw_pauses as p where p.id > 0 and p.task = any (identifiers) and (p.until <= now()) is not true) then
    return null;
  elsif cardinality(identifiers) = 1 then
    return identifiers;
  end if;
  return array(
    select i.task
      from unnest(identifiers) as i (task)
     where exists (select from {{.schema}}._gw_limits as l where l.tasks is null)
        or i.task in (select unnest(l.tasks) from {{.schema}}._gw_limits as l)
        or i.task in (select p.task from {{.schema}}._gw_pauses as p where p.task is not null and (p.until <= now()) is not true));
end;
$$;
