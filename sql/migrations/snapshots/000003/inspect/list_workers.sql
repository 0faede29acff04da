-- Returns the workers after after_worker, by id: registered workers, and other workers that hold jobs or queues, such
-- as Node's. running is the number of jobs that a worker holds, longest_since when it claimed the oldest of them.
-- Cost, is_estimate and scale are those of queue_depth; a sample may miss workers that are not registered.
-- Raises GWILM (max_rows or pages is negative).
create or replace function {{.schema}}.list_workers(
  after_worker text    default null,
  max_rows     integer default 100,
  pages        bigint  default 20000
)
  returns table (
    worker_id     text,
    is_registered boolean,
    host          text,
    pid           integer,
    version       text,
    concurrency   integer,
    running       bigint,
    longest_since timestamptz,
    started_at    timestamptz,
    last_seen_at  timestamptz,
    tasks         text[],
    crontab       text[],
    is_estimate   boolean,
    scale         double precision
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  share       constant real := {{.schema}}._gw_share_seen('_private_jobs', pages);
  read_before constant bigint := {{.schema}}._gw_pages_read();
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  with held as materialized (
    select j.locked_by, count(*) as jobs, min(j.locked_at) as since
      from {{.schema}}._private_jobs as j tablesample system (share)
     where j.locked_at is not null
     group by j.locked_by
  ), sample as materialized ( -- the argument makes it wait for the end of the sample
    select {{.schema}}._gw_scale(share, read_before, (select count(*) from held)) as scale
  ), known as (
    select w.id from {{.schema}}._gw_workers as w
     union
    select h.locked_by from held as h
     union
    select q.locked_by from {{.schema}}._private_job_queues as q where q.locked_at is not null and q.locked_by is distinct from 'pause'
  )
  select k.id, w.id is not null, w.host, w.pid, w.version, w.concurrency, coalesce(round(h.jobs * a.scale), 0)::bigint,
         h.since, w.started_at, w.last_seen_at, w.tasks, w.crontab, a.scale > 1, a.scale
    from known as k
   cross join sample as a
    left join {{.schema}}._gw_workers as w on w.id = k.id
    left join held as h on h.locked_by = k.id
   where k.id is not null
     and (after_worker is null or k.id > after_worker)
   order by k.id
   limit max_rows;
end;
$$;

comment on function {{.schema}}.list_workers(text, integer, bigint) is
  'Returns the workers after after_worker, by id: registered workers, and others that hold jobs or queues, with how many jobs each holds and since when. Of a jobs table with more than pages pages it reads a sample of that size, and is_estimate is true; scale: for how many jobs each counted one stands.';
