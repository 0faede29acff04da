-- Returns the tasks after after_task, by name, that had jobs or that a registered worker has which was seen in the last
-- five minutes: how many of their jobs are in each state (see job_state), and how many such workers have the task. Node
-- workers do not register.
-- Cost, is_estimate and scale are those of queue_depth.
-- Raises GWILM (max_rows or pages is negative).
create or replace function {{.schema}}.list_tasks(
  after_task text    default null,
  max_rows   integer default 100,
  pages      bigint  default 20000
)
  returns table (
    task_identifier text,
    ready           bigint,
    scheduled       bigint,
    running         bigint,
    failed          bigint,
    workers         bigint,
    is_estimate     boolean,
    scale           double precision
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  with seen as materialized (
    select c.* from {{.schema}}._gw_count_jobs('task', pages) as c
  ), sample as (
    select min(s.scale) as scale from seen as s
  ), living as (
    select w.tasks from {{.schema}}._gw_workers as w where w.last_seen_at >= now() - interval '5 minutes' and w.drained_at is null
  ), known as (
    select t.identifier from {{.schema}}._private_tasks as t
     union
    select u.task from living as l cross join unnest(l.tasks) as u (task)
  ), page as (
    select k.identifier
      from known as k
     where after_task is null or k.identifier > after_task
     order by k.identifier
     limit max_rows
  )
  select p.identifier, coalesce(s.ready, 0), coalesce(s.scheduled, 0), coalesce(s.running, 0), coalesce(s.failed, 0),
         (select count(*) from living as l where l.tasks = '{}' or p.identifier = any (l.tasks)),
         a.scale > 1, a.scale
    from page as p
   cross join sample as a
    left join {{.schema}}._private_tasks as t on t.identifier = p.identifier
    left join seen as s on s.id = t.id
   order by p.identifier;
end;
$$;

comment on function {{.schema}}.list_tasks(text, integer, bigint) is
  'Returns the tasks after after_task, by name: those that had jobs or that a registered worker has which was seen in the last five minutes and is not drained, with how many of their jobs are ready, scheduled, running and failed, and how many such workers have the task. Of a jobs table with more than pages pages it reads a sample of half that size, and is_estimate is true; scale: for how many jobs each counted one stands.';
