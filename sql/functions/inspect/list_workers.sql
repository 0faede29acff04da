-- Returns the workers after after_worker, by id: registered workers, and other workers that hold jobs or queues, such
-- as Node's. running: how many jobs its handlers run, as told by its last heartbeat, at told_at; of a worker that tells
-- nothing, how many it holds. claimed: how many jobs it holds. longest_since: when it claimed the oldest of those that
-- run.
-- state: working; draining, after drain_worker, until it holds no job; drained; silent, if no heartbeat came within
-- dead_after, so that the other workers take its jobs; null if it is not registered.
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
    scale         double precision,
    claimed       bigint,
    told_at       timestamptz,
    state         text
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  share       constant real := {{.schema}}._gw_share_counted(pages);
  read_before constant bigint := {{.schema}}._gw_pages_read();
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  with told as materialized (
    select t.worker_id as id, count(*) as jobs, min(t.locked_at) filter (where t.job_id = any (w.claimed_ids[1 : w.running])) as since
      from {{.schema}}._gw_told_jobs() as t
      join {{.schema}}._gw_workers as w on w.id = t.worker_id
     group by t.worker_id
  ), held as materialized (
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
  ), page as (
    select k.id, w.running, w.told_at, h.jobs, h.since, t.jobs as told, t.since as told_since,
           case when a.scale > 1 and w.told_at is not null then coalesce(greatest(w.running + w.waiting, t.jobs), 0)
                else coalesce(round(h.jobs * a.scale), 0)::bigint end as claimed
      from known as k
     cross join sample as a
      left join {{.schema}}._gw_workers as w on w.id = k.id
      left join held as h on h.locked_by = k.id
      left join told as t on t.id = k.id
     where k.id is not null
       and (after_worker is null or k.id > after_worker)
     order by k.id
     limit max_rows
  )
  select p.id, w.id is not null, w.host, w.pid, w.version, w.concurrency, coalesce(p.running, p.claimed)::bigint,
         case when p.told_at is not null then p.told_since else p.since end, w.started_at, w.last_seen_at, w.tasks, w.crontab,
         a.scale > 1 and p.told_at is null, case when p.told_at is null then a.scale else 1 end, p.claimed, p.told_at,
         case when w.id is null then null
              when w.last_seen_at < now() - (select {{.schema}}.setting('dead_after')::interval) then 'silent'
              when w.drained_at is null then 'working'
              when p.claimed > 0 then 'draining'
              else 'drained' end
    from page as p
   cross join sample as a
    left join {{.schema}}._gw_workers as w on w.id = p.id
   order by p.id;
end;
$$;

comment on function {{.schema}}.list_workers(text, integer, bigint) is
  'Returns the workers after after_worker, by id: registered workers, and others that hold jobs or queues. running: how many jobs its handlers run, as its heartbeat told at told_at, or, if it tells nothing, how many it holds; claimed: how many jobs it holds; longest_since: when it claimed the oldest running one. state: working, draining, drained, silent, or null if it is not registered. Of a jobs table with more than pages pages it reads a sample of half that size for workers that tell nothing, and is_estimate is true; scale: for how many jobs each counted one stands.';
