-- When to look again: the earliest run_at after now() of a job that could then be claimed; null if there is none. It may
-- be too early, never too late: named queues are not looked at, and other tasks only so far as one page of the index
-- shows. One index probe for each distinct priority.
create or replace function {{.schema}}.next_run_at(
  task_identifiers text[] default null
)
  returns timestamptz
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
as $$
begin
  return (
    with recursive priorities (priority) as (
      (select j.priority
         from {{.schema}}._private_jobs as j
        where j.is_available
        order by j.priority
        limit 1)
      union all
      select (select j.priority
                from {{.schema}}._private_jobs as j
               where j.is_available and j.priority > priorities.priority
               order by j.priority
               limit 1)
        from priorities
       where priorities.priority is not null
    )
    select min(s.run_at)
      from priorities
     cross join lateral (
            -- The first of our tasks, else where the page ended.
            select coalesce(
                     min(p.run_at) filter (where task_identifiers is null or p.task_id = any (array(
                       select t.id
                         from {{.schema}}._private_tasks as t
                        where t.identifier = any (task_identifiers)))),
                     case when count(*) = 50 then max(p.run_at) end) as run_at
              from (select j.run_at, j.task_id
                      from {{.schema}}._private_jobs as j
                     where j.is_available and j.priority = priorities.priority and j.run_at > now()
                     order by j.run_at
                     limit 50) as p) as s);
end;
$$;

comment on function {{.schema}}.next_run_at(text[]) is
  'The earliest run_at after now() of a waiting job of these tasks (all if null), null if there is none. It may be too early, never too late.';
