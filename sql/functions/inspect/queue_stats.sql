-- Returns one row about the queue, for operators and monitoring: queue_depth, how long the oldest ready job has been
-- due and the longest running job has been running (null if there is none), how many registered workers were seen in
-- the last five minutes, and two counters: jobs that were added, and jobs that were deleted because they were completed
-- or removed. The counters only grow, except when the server's statistics are reset; their growth over time is the
-- rate. They may lag by a second.
-- The cost is bounded as that of queue_depth; longest_running_seconds comes from the same sample.
-- Raises GWILM (pages is negative).
create or replace function {{.schema}}.queue_stats(
  pages bigint default 1000
)
  returns table (
    ready                   bigint,
    scheduled               bigint,
    running                 bigint,
    failed                  bigint,
    is_estimate             boolean,
    oldest_ready_seconds    double precision,
    longest_running_seconds double precision,
    workers                 bigint,
    added                   bigint,
    gone                    bigint
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  share real := {{.schema}}._gw_share_seen('_private_jobs', pages);
begin
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  select d.ready, d.scheduled, d.running, d.failed, d.is_estimate, extract(epoch from d.oldest_ready)::double precision,
         (select extract(epoch from now() - min(j.locked_at))::double precision
            from {{.schema}}._private_jobs as j tablesample system (share)
           where j.locked_at is not null),
         (select count(*) from {{.schema}}._gw_workers as w where w.last_seen_at >= now() - interval '5 minutes'),
         pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_deleted(c.oid)
    from {{.schema}}.queue_depth(pages) as d
    join pg_class as c on c.relname = '_private_jobs' and c.relnamespace = {{.schema}}._gw_namespace();
end;
$$;

comment on function {{.schema}}.queue_stats(bigint) is
  'Returns one row about the queue: how many jobs are ready, scheduled, running and failed, how long the oldest ready job has been due and the longest running job has been running, how many registered workers were seen in the last five minutes, and, from the server''s statistics, how many jobs were ever added and how many were deleted because they were completed or removed. Of a table with more than pages pages it reads a sample of that size, and is_estimate is true.';
