-- Samples of the queue, one a minute, for charts. They are stored in the database, so they survive restarts of the
-- workers.

-- Records the row of queue_stats, once in each minute for the whole fleet. heartbeat calls it, so there are samples
-- while a worker is registered. If the row cannot be read, the minute has no sample.
-- Locks: the row of samples in _gw_turns, or does nothing if another transaction holds it.
create or replace function {{.schema}}._gw_take_sample()
  returns void language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  perform {{.schema}}._gw_try('_gw_add_sample')
    where {{.schema}}._gw_begin_turn('sample', date_trunc('minute', clock_timestamp()) - interval '1 microsecond');
end;
$$;

comment on function {{.schema}}._gw_take_sample() is 'Internal: records the row of queue_stats, once in each minute for the whole fleet.';

create or replace function {{.schema}}._gw_add_sample()
  returns void language plpgsql set search_path = pg_catalog, pg_temp set jit = off
as $$
begin
  insert into {{.schema}}._gw_samples (at, ready, scheduled, running, failed, is_estimate, oldest_ready_seconds,
                                       workers, added, gone)
  select clock_timestamp(), s.ready, s.scheduled, s.running, s.failed, s.is_estimate, s.oldest_ready_seconds, s.workers,
         s.added, s.gone
    from {{.schema}}.queue_stats() as s
      on conflict on constraint _gw_samples_pkey do nothing;
end;
$$;

comment on function {{.schema}}._gw_add_sample() is 'Internal, for _gw_take_sample(): records a sample of the queue.';

-- Returns the samples of the time since, oldest first, about max_rows at most: the last sample of each span.
-- added_per_second and gone_per_second are means since the previous sample in the result, null for the first one, after
-- a reset of the server's statistics and after a gap of more than three spans.
-- Raises GWILM (max_rows is negative).
create or replace function {{.schema}}.list_samples(
  since    interval default '1 hour',
  max_rows integer  default 120
)
  returns table (
    at                   timestamptz,
    ready                bigint,
    scheduled            bigint,
    running              bigint,
    failed               bigint,
    is_estimate          boolean,
    oldest_ready_seconds double precision,
    workers              bigint,
    added_per_second     double precision,
    gone_per_second      double precision
  )
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  span double precision := greatest(60, extract(epoch from since) / greatest(1, max_rows));
begin
  perform {{.schema}}._gw_check_limit('max_rows', max_rows);
  return query
  with last as (
    select distinct on (floor(extract(epoch from s.at) / span))
           s.at, s.ready, s.scheduled, s.running, s.failed, s.is_estimate, s.oldest_ready_seconds, s.workers,
           s.added, s.gone
      from {{.schema}}._gw_samples as s
     where s.at >= now() - since
     order by floor(extract(epoch from s.at) / span), s.at desc
  ), paired as (
    select l.*, extract(epoch from l.at - lag(l.at) over w) as seconds, l.added - lag(l.added) over w as more_added,
           l.gone - lag(l.gone) over w as more_gone
      from last as l
    window w as (order by l.at)
  )
  select p.at, p.ready, p.scheduled, p.running, p.failed, p.is_estimate, p.oldest_ready_seconds, p.workers,
         case when p.more_added >= 0 and p.seconds between 1 and 3 * span then p.more_added / p.seconds end::double precision,
         case when p.more_gone >= 0 and p.seconds between 1 and 3 * span then p.more_gone / p.seconds end::double precision
    from paired as p
   order by p.at;
end;
$$;

comment on function {{.schema}}.list_samples(interval, integer) is
  'Returns the samples of the queue over the time since, oldest first: what queue_stats returned once a minute while a worker was registered, the last sample of each of max_rows spans, with the mean number of jobs that were added and gone per second since the previous one.';
