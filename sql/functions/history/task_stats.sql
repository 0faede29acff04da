-- Returns what the jobs of a kept task did in a span of time, by the ends of their attempts: counts by outcome, and
-- percentiles of the time from when they were due to the claim (waited) and from the claim to the end (ran) of
-- completed and failed attempts. Counts are exact, except that at the limits of the span a thousand jobs or ten minutes
-- may count as one. Of more than sample_at attempts, the percentiles are computed from about that many; sampled is the
-- number.
-- Locks: the tables of the history, in access share mode.
-- Raises GWBNI (task).
create or replace function {{.schema}}.task_stats(
  task      text,
  since     timestamptz default now() - interval '1 day',
  until     timestamptz default null,
  sample_at integer     default 50000
)
  returns table (
    attempts           bigint,
    completed          bigint,
    failed             bigint,
    permanently_failed bigint,
    recovered          bigint,
    snoozed            bigint,
    returned           bigint,
    waited_p50         interval,
    waited_p95         interval,
    waited_p99         interval,
    ran_p50            interval,
    ran_p95            interval,
    ran_p99            interval,
    sampled            bigint
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
#variable_conflict use_variable
declare
  high  constant timestamptz := coalesce(until, 'infinity');
  known bigint;
  every bigint;
begin
  if task is null then
    raise exception 'Task identifier must not be null.' using errcode = 'GWBNI';
  end if;
  lock table {{.schema}}._gw_ended in access share mode;
  select coalesce(sum(h.attempt_count), 0) into known
    from {{.schema}}._gw_history as h
   where h.task = task_stats.task and h.last_ended_at >= since and h.first_ended_at < high;
  every := greatest(1, known / greatest(sample_at, 1));

  return query
  with line as (
    select r.outcome, {{.schema}}._gw_seconds(e.ended_at, r.started_at) as ran,
           {{.schema}}._gw_seconds(r.started_at, greatest(r.run_at, r.created_at)) as waited
      from {{.schema}}._gw_ended as e
     cross join lateral {{.schema}}._gw_recent_lines(e) as r
     where e.task = task_stats.task and e.ended_at >= since and e.ended_at < high
    union all
    select coalesce(h.outcome, u.outcome), u.ran, u.waited + least(coalesce(u.aged, 0), 0)
      from {{.schema}}._gw_history as h
     cross join lateral rows from (unnest(h.outcomes), unnest(h.ended_after), unnest(h.ran), unnest(h.waited), unnest(h.aged))
             as u (outcome, ended_after, ran, waited, aged)
     where h.task = task_stats.task and h.last_ended_at >= since and h.first_ended_at < high
       and (every = 1 or abs(hashint8(h.first_id)) % every = 0)
       and (every > 1 or h.first_ended_at >= since and h.last_ended_at < high
            or h.first_ended_at + u.ended_after * interval '1 second' >= since and h.first_ended_at + u.ended_after * interval '1 second' < high)
  ), ended as ( -- by the lines, or, if they are a sample, by the counts that are stored
    select l.outcome, 1 as jobs from line as l where every = 1
    union all
    select c.outcome, c.jobs::integer
      from {{.schema}}._gw_history as h
     cross join lateral jsonb_each_text(h.counts) as c (outcome, jobs)
     where every > 1 and h.task = task_stats.task and h.last_ended_at >= since and h.first_ended_at < high
    union all
    select e.outcome, cardinality(e.job_ids)
      from {{.schema}}._gw_ended as e
     where every > 1 and e.task = task_stats.task and e.ended_at >= since and e.ended_at < high
  ), tally as (
    select coalesce(sum(e.jobs), 0) as n,
           coalesce(sum(e.jobs) filter (where e.outcome = 'completed'), 0) as completed,
           coalesce(sum(e.jobs) filter (where e.outcome = 'failed'), 0) as failed,
           coalesce(sum(e.jobs) filter (where e.outcome = 'permanently_failed'), 0) as permanently_failed,
           coalesce(sum(e.jobs) filter (where e.outcome = 'recovered'), 0) as recovered,
           coalesce(sum(e.jobs) filter (where e.outcome = 'snoozed'), 0) as snoozed,
           coalesce(sum(e.jobs) filter (where e.outcome = 'returned'), 0) as returned
      from ended as e
  ), times as (
    select percentile_cont(array[0.5, 0.95, 0.99]) within group (order by greatest(0, l.waited)) as waited,
           percentile_cont(array[0.5, 0.95, 0.99]) within group (order by l.ran) as ran,
           count(*) as sampled
      from line as l
     where l.ran is not null and l.outcome in ('completed', 'failed', 'permanently_failed')
  )
  select t.n, t.completed, t.failed, t.permanently_failed, t.recovered, t.snoozed, t.returned,
         p.waited[1] * interval '1 second', p.waited[2] * interval '1 second', p.waited[3] * interval '1 second',
         p.ran[1] * interval '1 second', p.ran[2] * interval '1 second', p.ran[3] * interval '1 second', p.sampled
    from tally as t
   cross join times as p;
end;
$$;

comment on function {{.schema}}.task_stats(text, timestamptz, timestamptz, integer) is
  'Returns what the jobs of a kept task did between since (default: a day ago) and until, by the ends of their attempts: counts by outcome, and percentiles of how long they waited after they were due and how long they ran, of completed and failed attempts. Of more than sample_at attempts the percentiles are computed from about that many: sampled.';
