-- Counts the jobs of each task, of each queue for list_queues, or all jobs for queue_depth, by state; and the oldest
-- lock of the running ones. A held job counts for the queue that it had. Of a table with more than pages pages it reads
-- a sample of half that size, which is exact enough for an estimate; scale: for how many jobs each job of it stands.
-- Running jobs are in no sample if few run among many, so those of workers that tell them are read by their ids.
create or replace function {{.schema}}._gw_count_jobs(kind text, pages bigint)
  returns table (id integer, ready bigint, scheduled bigint, running bigint, failed bigint, locked_since timestamptz,
                 scale double precision)
  language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off
as $$
declare
  share       constant real := {{.schema}}._gw_share_counted(pages);
  read_before constant bigint := {{.schema}}._gw_pages_read();
begin
  return query
  with told as materialized (
    select t.* from {{.schema}}._gw_told_jobs() as t where share < 100
  ), read as (
    select j.id, j.task_id, j.job_queue_id, j.run_at, j.attempts, j.max_attempts, j.locked_at,
           null::double precision as stands_for
      from {{.schema}}._private_jobs as j tablesample system (share)
     where j.locked_at is null or j.locked_by <> all (array(select distinct t.worker_id from told as t))
    union all
    select t.job_id, t.task_id, t.job_queue_id, t.run_at, t.attempts, t.max_attempts, t.locked_at, t.stands_for
      from told as t
  ), seen as materialized ( -- by the conditions of job_state, as numbers: to group by its texts takes twice as long
    select case kind when 'task' then j.task_id
                     when 'queue' then
                       case when j.job_queue_id between -15 and -2
                            then (select q.id from {{.schema}}._private_job_queues as q
                                   where q.queue_name = {{.schema}}._gw_queue_name(j.job_queue_id, j.id))
                            else j.job_queue_id end
           end as id,
           count(*) filter (where j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()) as ready,
           count(*) filter (
             where j.locked_at is null and j.attempts < j.max_attempts and j.run_at > now()) as scheduled,
           count(*) filter (where j.locked_at is not null and j.stands_for is null) as running,
           count(*) filter (where j.locked_at is null and j.attempts >= j.max_attempts) as failed,
           coalesce(sum(j.stands_for), 0) as told, min(j.locked_at) as locked_since
      from read as j
     group by 1
  ), sample as materialized ( -- the argument makes it wait for the end of the sample
    select {{.schema}}._gw_scale(share, read_before, (select count(*) from seen)) as scale
  )
  select s.id, coalesce(round(s.ready * p.scale), 0)::bigint, coalesce(round(s.scheduled * p.scale), 0)::bigint,
         coalesce(round(s.running * p.scale + s.told), 0)::bigint, coalesce(round(s.failed * p.scale), 0)::bigint,
         s.locked_since, p.scale
    from sample as p
    left join seen as s on true;
end;
$$;

comment on function {{.schema}}._gw_count_jobs(text, bigint) is 'Internal: counts the jobs of each task, of each queue for list_queues, or all jobs for queue_depth, by state; and the oldest lock of the running ones.';

-- Returns the percentage of the jobs table that is read to count jobs.
create or replace function {{.schema}}._gw_share_counted(pages bigint)
  returns real language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  share constant real := {{.schema}}._gw_share_seen('_private_jobs', pages);
begin
  return case when share < 100 then share / 2 else 100 end;
end;
$$;

comment on function {{.schema}}._gw_share_counted(bigint) is 'Internal: returns the percentage of the jobs table that is read to count jobs.';

-- Returns the jobs that registered workers told in their last heartbeat, as they are now, without those that have ended
-- since. stands_for: how many of the worker's jobs each is, because a worker tells a thousand at most.
create or replace function {{.schema}}._gw_told_jobs()
  returns table (
    worker_id text, job_id bigint, task_id integer, job_queue_id integer, run_at timestamptz, attempts smallint,
    max_attempts smallint, locked_at timestamptz, stands_for double precision)
  language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  return query
  select w.id, j.id, j.task_id, j.job_queue_id, j.run_at, j.attempts, j.max_attempts, j.locked_at,
         greatest(w.running + w.waiting, cardinality(w.claimed_ids)) / cardinality(w.claimed_ids)::double precision
    from {{.schema}}._gw_workers as w
   cross join lateral unnest(w.claimed_ids) as u (id)
   cross join lateral (
          select j.*
            from {{.schema}}._private_jobs as j
           where j.id = u.id and j.locked_by = w.id and j.locked_at is not null
          offset 0) as j
   where w.told_at is not null;
end;
$$;

comment on function {{.schema}}._gw_told_jobs() is 'Internal: returns the jobs that registered workers told in their last heartbeat, as they are now, without those that have ended since.';

-- Returns how many pages of the jobs table this transaction has read so far.
create or replace function {{.schema}}._gw_pages_read()
  returns bigint language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select pg_stat_get_xact_blocks_fetched('{{ replace "'" "''" .schema }}._private_jobs'::regclass)
$$;

comment on function {{.schema}}._gw_pages_read() is 'Internal: returns how many pages of the jobs table this transaction has read so far.';

-- Returns for how many jobs each job of a sample stands, once that was read: all pages by those that it contained,
-- empty ones included. It differs from the share that was asked for, because that is the chance of each page. If the
-- server does not count (track_counts), that share has to do.
create or replace function {{.schema}}._gw_scale(share real, read_before bigint, groups_seen bigint)
  returns double precision language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select case when share >= 100 then 1
              when r.seen between 1 and r.pages then r.pages / r.seen::double precision
              else 100 / greatest(share, 0.0001) end
    from (select {{.schema}}._gw_pages_read() - read_before as seen,
                 pg_relation_size('{{ replace "'" "''" .schema }}._private_jobs'::regclass) / current_setting('block_size')::bigint as pages
          offset 0) as r
$$;

comment on function {{.schema}}._gw_scale(real, bigint, bigint) is 'Internal: returns for how many jobs each job of a sample stands, once that was read: all pages by those that it contained, empty ones included.';
