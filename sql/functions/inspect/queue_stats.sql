-- The queue in one row, for people and monitors: queue_depth, how long the oldest ready and the longest running job have
-- been so (null if there is none), how many registered workers were seen in the last five minutes, and two counters that
-- only grow, but for a reset of the server's statistics: the jobs that were added, and those that are gone because they
-- were done or removed. What they grow by in a while is the rate; the server may be a second behind with them.
-- Its cost is bounded as queue_depth's is; longest_running_seconds comes from the same sample.
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
  'The queue in one row: how many jobs are ready, scheduled, running and failed, for how long the oldest ready and the longest running one have been so, how many registered workers were seen in the last five minutes, and how many jobs were ever added and are gone, done or removed, by the server''s statistics. Of a table with more than so many pages it looks at a sample of as many, and is_estimate is true.';
