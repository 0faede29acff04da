-- The named queues, by name from after_queue on, with how many of their jobs stand where (see job_state), and since when
-- and by whom each is locked: then one of its jobs runs, and the others wait. Jobs in no queue are not counted.
-- Its cost is bounded as queue_depth's is: of a table of jobs with more than so many pages it sees a sample.
-- Raises GWILM (max_rows or pages is negative).
create or replace function {{.schema}}.list_queues(
  after_queue text    default null,
  max_rows    integer default 100,
  pages       bigint  default 1000
)
  returns table (
    queue_name  text,
    ready       bigint,
    scheduled   bigint,
    running     bigint,
    failed      bigint,
    locked_at   timestamptz,
    locked_by   text,
    is_estimate boolean
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
  with page as (
    select q.id, q.queue_name, q.locked_at, q.locked_by
      from {{.schema}}._private_job_queues as q
     where after_queue is null or q.queue_name > after_queue
     order by q.queue_name
     limit max_rows
  )
  select p.queue_name, coalesce(s.ready, 0), coalesce(s.scheduled, 0), coalesce(s.running, 0), coalesce(s.failed, 0),
         p.locked_at, p.locked_by, is_sample
    from page as p
    left join {{.schema}}._gw_count_jobs('queue', pages) as s on s.id = p.id
   order by p.queue_name;
end;
$$;

comment on function {{.schema}}.list_queues(text, integer, bigint) is
  'The named queues by name, those after after_queue, with how many of their jobs are ready, scheduled, running and failed, and since when and by which worker each is locked. Of a table of jobs with more than so many pages it looks at a sample of as many, and is_estimate is true.';
