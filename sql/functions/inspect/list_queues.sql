-- Returns the named queues after after_queue, by name: how many of their jobs are in each state (see job_state), and
-- since when and by which worker each queue is locked. While a queue is locked, one of its jobs runs and the others
-- wait. A paused queue whose jobs do not run is not shown as locked; see list_pauses. Jobs without a queue are not
-- counted.
-- Cost, is_estimate and scale are those of queue_depth.
-- Raises GWILM (max_rows or pages is negative).
create or replace function {{.schema}}.list_queues(
  after_queue text    default null,
  max_rows    integer default 100,
  pages       bigint  default 20000
)
  returns table (
    queue_name  text,
    ready       bigint,
    scheduled   bigint,
    running     bigint,
    failed      bigint,
    locked_at   timestamptz,
    locked_by   text,
    is_estimate boolean,
    scale       double precision
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
    select c.* from {{.schema}}._gw_count_jobs('queue', pages) as c
  ), sample as (
    select min(s.scale) as scale from seen as s
  ), page as (
    select q.id, q.queue_name, q.locked_at, q.locked_by, q.locked_by = 'pause' as is_paused
      from {{.schema}}._private_job_queues as q
     where after_queue is null or q.queue_name > after_queue
     order by q.queue_name
     limit max_rows
  )
  select p.queue_name, coalesce(s.ready, 0), coalesce(s.scheduled, 0), coalesce(s.running, 0), coalesce(s.failed, 0),
         case when p.is_paused is not true then p.locked_at end, case when p.is_paused is not true then p.locked_by end,
         a.scale > 1, a.scale
    from page as p
   cross join sample as a
    left join seen as s on s.id = p.id
   order by p.queue_name;
end;
$$;

comment on function {{.schema}}.list_queues(text, integer, bigint) is
  'Returns the named queues after after_queue, by name: with how many of their jobs are ready, scheduled, running and failed, and since when and by which worker each queue is locked. Of a jobs table with more than pages pages it reads a sample of half that size, and is_estimate is true; scale: for how many jobs each counted one stands.';
