-- Returns one row about the queue, for operators and monitoring: queue_depth, how long the oldest ready job has been
-- due and the longest running job has been running (null if there is none), how many registered workers were seen in
-- the last five minutes, and two counters: jobs that were added, and jobs that were deleted because they were completed
-- or removed. The counters only grow, except when the server's statistics are reset; their growth over time is the
-- rate. They may lag by a second.
-- Cost, is_estimate and scale are those of queue_depth. Of a sample, running and longest_running_seconds may miss jobs
-- of workers that do not register.
-- Raises GWILM (pages is negative).
create or replace function {{.schema}}.queue_stats(pages bigint default 20000)
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
    gone                    bigint,
    scale                   double precision
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform {{.schema}}._gw_check_limit('pages', pages);
  return query
  select s.ready, s.scheduled, s.running, s.failed, s.scale > 1,
         extract(epoch from now() - {{.schema}}._gw_oldest_ready())::double precision,
         extract(epoch from now() - s.locked_since)::double precision,
         (select count(*) from {{.schema}}._gw_workers as w where w.last_seen_at >= now() - interval '5 minutes'),
         pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_deleted(c.oid), s.scale
    from {{.schema}}._gw_count_jobs('all', pages) as s
    join pg_class as c on c.relname = '_private_jobs' and c.relnamespace = {{.schema}}._gw_namespace();
end;
$$;

comment on function {{.schema}}.queue_stats(bigint) is
  'Returns one row about the queue: how many jobs are ready, scheduled, running and failed, how long the oldest ready job has been due and the longest running job has been running, how many registered workers were seen in the last five minutes, and, from the server''s statistics, how many jobs were ever added and how many were deleted because they were completed or removed. Of a table with more than pages pages it reads a sample of half that size, and is_estimate is true; scale: for how many jobs each counted one stands.';
