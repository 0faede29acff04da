-- Returns the tasks after after_task, by name, that had jobs or that a registered worker has which was seen in the last
-- five minutes: how many of their jobs are in each state (see job_state), and how many such workers have the task. Node
-- workers do not register.
-- The cost is bounded as that of queue_depth: of a jobs table with more than pages pages it reads a sample.
-- Raises GWILM (max_rows or pages is negative).
create or replace function {{.schema}}.list_tasks(
  after_task text    default null,
  max_rows   integer default 100,
  pages      bigint  default 1000
)
  returns table (
    task_identifier text,
    ready           bigint,
    scheduled       bigint,
    running         bigint,
    failed          bigint,
    workers         bigint,
    is_estimate     boolean
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  is_sample boolean := {{.schema}}._gw_share_seen('_private_jobs', pages) < 100;
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  with living as (
    select w.tasks from {{.schema}}._gw_workers as w where w.last_seen_at >= now() - interval '5 minutes'
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
         is_sample
    from page as p
    left join {{.schema}}._private_tasks as t on t.identifier = p.identifier
    left join {{.schema}}._gw_count_jobs('task', pages) as s on s.id = t.id
   order by p.identifier;
end;
$$;

comment on function {{.schema}}.list_tasks(text, integer, bigint) is
  'Returns the tasks after after_task, by name: those that had jobs or that a registered worker has which was seen in the last five minutes, with how many of their jobs are ready, scheduled, running and failed, and how many such workers have the task. Of a jobs table with more than pages pages it reads a sample of that size, and is_estimate is true.';

-- Counts the jobs of each task, of each queue for list_queues, or all jobs for queue_depth, by state. A held job counts for the
-- queue that it had.
create or replace function {{.schema}}._gw_count_jobs(kind text, pages bigint)
  returns table (id integer, ready bigint, scheduled bigint, running bigint, failed bigint) language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  share real := {{.schema}}._gw_share_seen('_private_jobs', pages);
begin
  return query
  with seen as (
    select case kind when 'task' then j.task_id
                     when 'queue' then
                       case when j.job_queue_id between -15 and -2
                            then (select q.id from {{.schema}}._private_job_queues as q
                                   where q.queue_name = {{.schema}}._gw_queue_name(j.job_queue_id, j.id))
                            else j.job_queue_id end
           end as id,
           {{.schema}}.job_state(j.run_at, j.attempts, j.max_attempts, j.locked_at) as state,
           count(*) * 100 / share as jobs
      from {{.schema}}._private_jobs as j tablesample system (share)
     group by 1, 2
  )
  select s.id,
         coalesce(sum(s.jobs) filter (where s.state = 'ready'), 0)::bigint,
         coalesce(sum(s.jobs) filter (where s.state = 'scheduled'), 0)::bigint,
         coalesce(sum(s.jobs) filter (where s.state = 'running'), 0)::bigint,
         coalesce(sum(s.jobs) filter (where s.state = 'failed'), 0)::bigint
    from seen as s
   group by s.id;
end;
$$;

comment on function {{.schema}}._gw_count_jobs(text, bigint) is
  'Internal: returns how many jobs of each task, of each queue, or of all, are in each state, by a sample of this many pages.';
