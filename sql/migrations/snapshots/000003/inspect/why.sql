-- Returns why a job does not run now: one row for each reason, the reason that has to end first in front. If nothing
-- holds the job back, there is one row: next, if the next claim of a worker with its task and all others takes it, or
-- behind, if other jobs come first. If there is no such job, there is no row.
--   claimed           a worker runs it
--   attempts used up  it has failed permanently; replaced: it was replaced or removed while it ran
--   future            it is due at until
--   paused            everything, its task, its queue, or a limit; the detail has the reason of the pause
--   full, rate, closed  a lane starts no job; see list_lanes
--   held              an open transaction holds a limit, such as one that has claimed jobs itself and not ended
--   no worker         there are registered workers, but none that was seen within the setting dead_after runs its task
--   queue held        a job of its named queue runs; its worker may have claimed this job, too
--   queue lost        the row of its named queue was deleted by hand
--   behind in queue   jobs of its named queue come first
--   suspect           its worker died; see get_job_alone
-- until: when the reason ends, if that is known. blocking_job_ids: the jobs that hold it back, ten at most.
-- The conditions are those of claims: _gw_suits, _gw_gates_of, _gw_seen_gates (see there).
create or replace function {{.schema}}.why(job_id bigint)
  returns table (reason text, detail text, until timestamptz, blocking_job_ids bigint[], remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  at     constant timestamptz := clock_timestamp();
  job    record;
  before bigint[];
begin
  select j.run_at, j.job_queue_id, t.identifier, j.locked_at is null and j.attempts < j.max_attempts as waits,
         {{.schema}}._gw_queue_name(j.job_queue_id, j.id) as queue_name
    into job
    from {{.schema}}._private_jobs as j
    left join {{.schema}}._private_tasks as t on t.id = j.task_id
   where j.id = why.job_id;
  if not found then
    return;
  elsif not job.waits then
    return query select * from {{.schema}}._gw_why_not_waiting(job_id);
    return;
  end if;

  return query
  select 'future', format('It is due at %s.', job.run_at), nullif(job.run_at, 'infinity'), null::bigint[],
         'retry_jobs makes it due now.'
   where job.run_at > at
  union all
  (select 'paused',
          format('%s is paused by %s since %s. %s',
                 coalesce('The task ' || p.task, 'The queue ' || p.queue_name, 'Everything'),
                 p.author, p.paused_at, p.reason),
          p.until, null, 'resume() ends the pause.'
     from {{.schema}}._gw_pauses as p
    where coalesce(p.until, 'infinity') > at and p.limit_name is null
      and (num_nulls(p.task, p.queue_name) = 2 or p.task = job.identifier or p.queue_name = job.queue_name)
    order by p.id)
  union all
  select * from {{.schema}}._gw_why_limited(job_id, at)
  union all
  select 'no worker',
         format('No registered worker that was seen in the last %s runs the task %s.',
                {{.schema}}.setting('dead_after'), job.identifier)
         || coalesce((select case when w.drained_at is not null
                                  then format(' %s did, and is drained since %s.', w.id, w.drained_at)
                                  else format(' %s did, and was last seen at %s.', w.id, w.last_seen_at) end
                        from {{.schema}}._gw_workers as w
                       where w.tasks = '{}' or job.identifier = any (w.tasks)
                       order by w.last_seen_at desc
                       limit 1), ''),
         null, null,
         'Start a worker for this task, or let one that is drained claim again, by drain_worker(..., false).'
   where not {{.schema}}._gw_is_served(job.identifier, at)
  union all
  select * from {{.schema}}._gw_why_queued(job_id, at) where job.job_queue_id > 0
  union all
  select 'suspect', 'A worker died while it ran the job.', null, null,
         'A worker that holds no other job will claim it by get_job_alone.'
   where job.job_queue_id between -15 and -2;
  if not found then
    before := nullif({{.schema}}._gw_jobs_before(job_id, at), '{}');
    return query values (case when before is null then 'next' else 'behind' end,
                         case when before is null then 'The next claim takes it.' else 'Other jobs come first.' end,
                         null::timestamptz, before, 'No action is needed.');
  end if;
end;
$$;

comment on function {{.schema}}.why(bigint) is
  'Returns why a job does not run now: one row for each reason, with its details, when it ends, which jobs hold the job back, and what to do. next: nothing holds it back, and the next claim takes it; behind: other jobs come first.';

-- For why(), of a job that does not wait: it runs, or its worker has claimed it together with jobs of its queue that
-- come first, or it has no attempts left.
create or replace function {{.schema}}._gw_why_not_waiting(job_id bigint)
  returns table (reason text, detail text, until timestamptz, blocking_job_ids bigint[], remedy text) language plpgsql
  stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  job   record;
  first bigint[];
begin
  select j.*, {{.schema}}._gw_queue_name(j.job_queue_id, j.id) as queue_name
    into job
    from {{.schema}}._private_jobs as j
   where j.id = job_id;
  if job.locked_at is null then
    return query values (case when job.attempts > job.max_attempts then 'replaced' else 'attempts used up' end,
                         format('It was tried %s times. %s', job.max_attempts, job.last_error),
                         null::timestamptz, null::bigint[], 'retry_jobs gives it its attempts again.');
    return;
  end if;
  if job.job_queue_id > 0 then
    first := array(
      select j.id
        from {{.schema}}._private_jobs as j
       where j.job_queue_id = job.job_queue_id and j.locked_at = job.locked_at
         and j.locked_by is not distinct from job.locked_by
         and (j.priority, j.run_at, j.id) < (job.priority, job.run_at, job.id)
       order by j.priority, j.run_at, j.id
       limit 10);
  end if;
  if cardinality(first) > 0 then
    return query values ('queue held',
                         format('Worker %s has claimed it together with jobs of the queue %s that come first.',
                                job.locked_by, job.queue_name),
                         null::timestamptz, first, 'It starts when they have ended.');
  else
    return query values ('claimed',
                         format('Worker %s has run it since %s.', coalesce(job.locked_by, 'unknown'), job.locked_at)
                         || coalesce((select format(' Its progress at %s:%s%s', p.reported_at,
                                                    ' ' || p.percent::numeric || ' %', ' ' || p.note)
                                        from {{.schema}}._gw_job_progress(array[job.id]) as p), ''),
                         null::timestamptz, null::bigint[], 'cancel_jobs ends it.');
  end if;
end;
$$;

comment on function {{.schema}}._gw_why_not_waiting(bigint) is 'Internal: for why(), of a job that does not wait: it runs, or its worker has claimed it together with jobs of its queue that come first, or it has no attempts left.';

-- For why(): what the limits of a job say. A transaction that holds one of them counts once it is a second old, because
-- a claim holds them for some milliseconds.
create or replace function {{.schema}}._gw_why_limited(job_id bigint, at timestamptz)
  returns table (reason text, detail text, until timestamptz, blocking_job_ids bigint[], remedy text) language plpgsql
  stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  return query
  select g.reason,
         case g.reason
           when 'paused' then
             (select string_agg(format('The limit %s%s is paused by %s since %s. %s', p.limit_name, ', lane ' || p.key,
                                       p.author, p.paused_at, p.reason), ' ' order by p.id)
                from {{.schema}}._gw_pauses as p
               where p.limit_name = g.limit_name and (p.key is null or p.key = g.key)
                 and coalesce(p.until, 'infinity') > at)
           when 'full' then
             format('The limit %s%s has no free slot.', g.limit_name, ', lane ' || g.key)
             || coalesce(' Slots of recovered jobs are kept until ' || g.kept_until
                         || ', because the limit is strict.', '')
           when 'rate' then
             format('The limit %s%s has started its maximum of jobs per time.', g.limit_name, ', lane ' || g.key)
           else format('A worker has closed the limit %s%s.', g.limit_name, ', lane ' || g.key) end,
         g.opens_at,
         case when g.reason = 'full' then
           (select array_agg(h.id)
              from (select j.id
                      from {{.schema}}._gw_running_at(array[g.gate_id]) as r
                      join {{.schema}}._private_jobs as j on j.id = r.job_id
                     order by j.locked_at
                     limit 10) as h)
         end,
         case g.reason when 'paused' then 'resume() ends the pause.'
                       when 'closed' then
                         format('If the service accepts requests again, open_lane(%s) opens it.',
                                concat_ws(', ', quote_literal(g.limit_name), quote_literal(g.key)))
                       when 'full' then 'It starts when one of these jobs ends; set_limit or override_lane can raise the maximum.'
                       else 'set_limit changes the limit.' end
    from (select o.*,
                 row_number() over (partition by o.limit_id, o.reason = 'paused' order by o.is_total, o.key) as number
            from {{.schema}}._gw_gates_of_jobs(array[job_id], at) as o
           where o.reason is not null) as g
   where g.reason <> 'paused' or g.number = 1 -- not for each of its gates
   order by g.limit_id, g.is_total;
  return query
  select 'held', format('The limit %s is held by the %s, whose transaction has been open since %s.', i.name, h.who,
                        coalesce(h.since::text, 'an unknown time')),
         null::timestamptz, null::bigint[], h.remedy
    from {{.schema}}._gw_limit_holders() as h
    join {{.schema}}._gw_limits as i on i.id = h.limit_id
   where (i.tasks is null
          or (select t.identifier
                from {{.schema}}._private_jobs as j
                join {{.schema}}._private_tasks as t on t.id = j.task_id
               where j.id = job_id) = any (i.tasks))
     and coalesce(h.since < at - interval '1 second', true)
   order by i.id;
end;
$$;

comment on function {{.schema}}._gw_why_limited(bigint, timestamptz) is 'Internal: for why(): what the limits of a job say.';

-- For why(), of a job in a named queue: a running job of the queue, and jobs that come first. Paused tasks do not
-- count, and a queue that a pause has is not held by a worker.
create or replace function {{.schema}}._gw_why_queued(job_id bigint, at timestamptz)
  returns table (reason text, detail text, until timestamptz, blocking_job_ids bigint[], remedy text) language plpgsql
  stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
declare
  job record;
begin
  select j.priority, j.run_at, j.id, j.job_queue_id, q.queue_name, q.locked_at, q.locked_by
    into job
    from {{.schema}}._private_jobs as j
    join {{.schema}}._private_job_queues as q on q.id = j.job_queue_id
   where j.id = job_id;
  if not found then
    return query values ('queue lost', 'The row of its queue was deleted by hand.', null::timestamptz, null::bigint[],
                         'repair() restores it.');
    return;
  end if;
  if job.locked_at is not null and job.locked_by is distinct from 'pause' then
    return query
    select 'queue held',
           format('Worker %s has held the queue %s since %s.', coalesce(job.locked_by, 'unknown'), job.queue_name,
                  job.locked_at),
           null::timestamptz, array_agg(j.id), 'It starts when that job ends.'
      from {{.schema}}._private_jobs as j
     where j.job_queue_id = job.job_queue_id and j.locked_at is not null;
  end if;
  return query
  select 'behind in queue', format('Jobs of the queue %s come first.', job.queue_name), null::timestamptz,
         array_agg(b.id), 'No action is needed.'
    from (select j.id
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id = job.job_queue_id
             and (j.priority, j.run_at, j.id) < (job.priority, job.run_at, job.id)
             and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, {{.schema}}._gw_served_tasks(at), null)
           order by j.priority, j.run_at, j.id
           limit 10) as b
  having count(*) > 0;
end;
$$;

comment on function {{.schema}}._gw_why_queued(bigint, timestamptz) is 'Internal: for why(), of a job in a named queue: a running job of the queue, and jobs that come first.';
