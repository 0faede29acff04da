-- Returns why a job does not run now: one row for each reason, the reason that has to end first in front. If nothing holds
-- the job back, there is one row: next, if the next claim of a worker with its task and all others takes it, or behind, if
-- other jobs come first. If there is no such job, there is no row.
--   claimed           a worker runs it
--   attempts used up  it has failed permanently; replaced: it was replaced or removed while it ran
--   future            it is due at until
--   paused            everything, its task, its queue, or a limit; the detail has the reason of the pause
--   moving            limits have changed, and it has not been moved yet
--   full, rate, closed  a lane starts no job; see list_lanes
--   queue held        a job of its named queue runs; its worker may have claimed this job, too
--   behind in queue   jobs of its named queue come first
--   suspect           its worker died; see get_job_alone
--   no worker         no registered worker runs its task
-- until: when the reason ends, if that is known. blocking_job_ids: the jobs that hold it back, ten at most.
-- The predicates are those of claims: _gw_suits, _gw_lane_rooms, _gw_turns.
create or replace function {{.schema}}.why(
  job_id bigint
)
  returns table (reason text, detail text, until timestamptz, blocking_job_ids bigint[], remedy text)
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  at        timestamptz := clock_timestamp();
  job       record;
  is_paused boolean; -- everything, its task or its queue
  found_any boolean := false;
begin
  select j.*, t.identifier, q.queue_name, q.locked_at as queue_locked_at, q.locked_by as queue_locked_by,
         coalesce(q.queue_name, g.queue_name) as any_queue_name, g.lanes, g.is_retired, g.fair_lane,
         exists (select from {{.schema}}._gw_suspects as s where s.job_id = j.id and s.revision = j.revision) as is_suspect
    into job
    from {{.schema}}._private_jobs as j
    left join {{.schema}}._private_tasks as t on t.id = j.task_id
    left join {{.schema}}._private_job_queues as q on q.id = j.job_queue_id
    left join {{.schema}}._gw_groups as g on g.id = j.job_queue_id
   where j.id = why.job_id;
  if not found then
    return;
  elsif job.locked_at is not null -- the claim may have other jobs, which come first
        and job.id = any ({{.schema}}._gw_unstarted_jobs(array(
              select j.id from {{.schema}}._private_jobs as j where j.job_queue_id = job.job_queue_id and j.locked_at = job.locked_at))) then
    return query
    select w.reason, w.detail, null::timestamptz, b.ids, w.remedy
      from (values ('queue held', format('Worker %s has claimed it together with jobs of the queue %s that come first.', job.locked_by, job.queue_name),
                    'It starts when they have ended.', job.job_queue_id > 0),
                   ('full', format('Worker %s has claimed it together with jobs that come first and use all slots of the claim.', job.locked_by),
                    'It starts when one of these jobs ends.', job.job_queue_id < 0)) as w (reason, detail, remedy, applies)
     cross join (select array_agg(f.id) as ids
                   from (select j.id
                           from {{.schema}}._private_jobs as j
                          where j.job_queue_id = job.job_queue_id and j.locked_at = job.locked_at
                            and (j.priority, j.run_at, j.id) < (job.priority, job.run_at, job.id)
                          order by j.priority, j.run_at, j.id
                          limit 10) as f) as b
     where w.applies;
    return;
  elsif job.locked_at is not null then
    return query values ('claimed', format('Worker %s has run it since %s.', coalesce(job.locked_by, 'unknown'), job.locked_at)
                                    || coalesce((select format(' Its progress at %s:%s%s', p.reported_at, ' ' || p.percent || ' %', ' ' || p.note)
                                                   from {{.schema}}._gw_job_progress(array[why.job_id]) as p), ''),
                         null::timestamptz, null::bigint[], 'cancel_jobs ends it.');
    return;
  elsif job.attempts >= job.max_attempts then
    return query values (case when job.attempts > job.max_attempts then 'replaced' else 'attempts used up' end,
                         format('It was tried %s times. %s', job.max_attempts, job.last_error), null::timestamptz, null::bigint[],
                         'retry_jobs gives it its attempts again.');
    return;
  end if;

  if job.run_at > at then
    return query values ('future', format('It is due at %s.', job.run_at), nullif(job.run_at, 'infinity'), null::bigint[],
                         'retry_jobs makes it due now.');
    found_any := true;
  end if;
  return query
  select 'paused', format('%s is paused by %s since %s. %s', coalesce('The task ' || p.task, 'The queue ' || p.queue_name, 'Everything'),
                          p.author, p.paused_at, p.reason),
         p.until, null::bigint[], 'resume() ends the pause.'
    from {{.schema}}._gw_pauses as p
   where coalesce(p.until, 'infinity') > at
     and (p.limit_name is null or p.task = job.identifier or job.any_queue_name like {{.schema}}._gw_pattern(p.queue_name) escape '!')
   order by p.id;
  is_paused := found;
  found_any := found_any or found;
  if not is_paused -- a paused job may not have been moved yet, which does not matter
     and (job.is_retired
          or exists (select from {{.schema}}._gw_moving_tasks() as m
                      where coalesce(job.job_queue_id, 0) >= 0
                        and (m.all_tasks or job.identifier = any (m.tasks) or {{.schema}}._gw_queue_moves(job.job_queue_id, m.queues)))) then
    return query values ('moving', 'A limit has changed; claims and heartbeats are moving its jobs.', null::timestamptz,
                         null::bigint[], 'Wait until list_limits() shows no moving jobs.');
    found_any := true;
  end if;
  return query
  select r.reason,
         case when r.reason = 'paused'
              then coalesce((select string_agg(format('The limit %s%s is paused by %s since %s. %s', p.limit_name, ', lane ' || p.lane,
                                                      p.author, p.paused_at, p.reason), ' ')
                               from {{.schema}}._gw_pauses as p
                              where p.limit_name = i.name and (p.lane is null or p.lane = l.key) and coalesce(p.until, 'infinity') > at),
                            'The pause of its task has ended; the next heartbeat of a worker returns it to its queue.')
              when r.reason = 'full' then
                format('The limit %s%s has no free slot.', i.name, ', lane ' || l.key)
                || coalesce((select format(' Slots of recovered jobs are kept until %s, because the limit is strict.', max(s.kept_until))
                               from {{.schema}}._gw_slots(array[l.id]) as s
                              where s.kept_until > at
                             having count(*) > 0), '')
              when r.reason = 'rate' then format('The limit %s%s has started its maximum of jobs per time.', i.name, ', lane ' || l.key)
              else format('A worker has closed the limit %s%s.', i.name, ', lane ' || l.key) end,
         r.opens_at,
         case when r.reason = 'full' then
           (select array_agg(h.id)
              from (select j.id
                      from {{.schema}}._gw_slots(array[l.id]) as s
                      join {{.schema}}._private_jobs as j on j.id = s.job_id
                     where s.kept_until is null
                     order by j.locked_at
                     limit 10) as h)
         end,
         case r.reason when 'paused' then 'resume() ends the pause.'
                       when 'full' then 'It starts when one of these jobs ends; set_limit or override_lane can raise the maximum.'
                       else 'set_limit changes the limit.' end
    from {{.schema}}._gw_lane_rooms(job.lanes, at) as r
    join {{.schema}}._gw_lanes as l on l.id = r.lane_id
    left join {{.schema}}._gw_limits as i on i.id = l.limit_id
   where r.reason <> 'dropped' and (i.is_pause and is_paused) is not true -- the group of a dropped lane is retired
   order by r.lane_id;
  found_any := found_any or found;
  if job.queue_locked_at is not null then
    return query
    select 'queue held', format('Worker %s has held the queue %s since %s.', coalesce(job.queue_locked_by, 'unknown'), job.queue_name, job.queue_locked_at),
           null::timestamptz, array_agg(j.id), 'It starts when that job ends.'
      from {{.schema}}._private_jobs as j
     where j.job_queue_id = job.job_queue_id and j.locked_at is not null;
    found_any := true;
  end if;
  if job.job_queue_id > 0 then
    return query
    select 'behind in queue', format('Jobs of the queue %s come first.', job.queue_name), null::timestamptz, array_agg(b.id), 'No action is needed.'
      from (select j.id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = job.job_queue_id
               and (j.priority, j.run_at, j.id) < (job.priority, job.run_at, job.id)
               and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, null, null)
             order by j.priority, j.run_at, j.id
             limit 10) as b
    having count(*) > 0;
    found_any := found_any or found;
  end if;
  if job.is_suspect then
    return query values ('suspect', 'A worker died while it ran the job.', null::timestamptz, null::bigint[],
                         'A worker that holds no other job will claim it by get_job_alone.');
    found_any := true;
  end if;
  if exists (select from {{.schema}}._gw_workers)
     and not exists (select from {{.schema}}._gw_workers as w where w.tasks = '{}' or job.identifier = any (w.tasks)) then
    return query values ('no worker', format('No registered worker runs the task %s.', job.identifier), null::timestamptz, null::bigint[],
                         'Start a worker for this task.');
    found_any := true;
  end if;
  if found_any then
    return;
  end if;

  return query
  select case when count(*) = 0 then 'next' else 'behind' end,
         case when count(*) = 0 then 'The next claim takes it.' else 'Other jobs come first.' end,
         null::timestamptz, array_agg(b.id), 'No action is needed.'
    from (select f.id
            from {{.schema}}._gw_jobs_before(
                   job.priority, job.run_at, job.id, at, (select t.turn from {{.schema}}._gw_turns(array[job.fair_lane]) as t)) as f (id)
           limit 10) as b;
end;
$$;

comment on function {{.schema}}.why(bigint) is
  'Returns why a job does not run now: one row for each reason, with its details, when it ends, which jobs hold the job back, and what to do. next: nothing holds it back, and the next claim takes it; behind: other jobs come first.';

-- For why(): returns up to ten of the jobs that nothing holds back and that come before a place in the order of jobs. turn:
-- the turn of the lane of a fair limit; null: no fair limit applies to the job. The order is that of _gw_fitting_jobs: jobs
-- with a turn come after the first of them, which is placed among all other jobs by its run_at.
create or replace function {{.schema}}._gw_jobs_before(
  priority smallint,
  run_at   timestamptz,
  id       bigint,
  at       timestamptz,
  turn     bigint
)
  returns setof bigint
  language plpgsql
  stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off
as $$
#variable_conflict use_column
declare
  barred  text[];
  all_of  boolean;
  queues  text[];
  last_id bigint := case when turn is null then id else 9223372036854775807 end; -- of jobs without a turn
begin
  select m.all_tasks, m.tasks, m.queues into all_of, barred, queues from {{.schema}}._gw_moving_tasks() as m;
  return query
  with heads as materialized (
    select h.id, h.priority, h.run_at, g.lanes, g.fair_lane
      from {{.schema}}._gw_groups as g
     cross join lateral (
            select j.id, j.priority, j.run_at
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = g.id
               and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, null, null)
               and not exists (select from {{.schema}}._gw_suspects as s where s.job_id = j.id and s.revision = j.revision)
             order by j.priority, j.run_at, j.id
             limit 1) as h
     where not g.is_retired and h.priority <= _gw_jobs_before.priority
  ), open_heads as materialized (
    select h.*, t.turn
      from heads as h
      left join {{.schema}}._gw_turns(array(select o.fair_lane from heads as o where o.fair_lane is not null)) as t on t.lane_id = h.fair_lane
     where not h.lanes && array(select r.lane_id
                                  from {{.schema}}._gw_lane_rooms(array(select distinct u.lane
                                                                          from heads as o
                                                                         cross join unnest(o.lanes) as u (lane)), at) as r
                                 where r.room = 0)
  )
  select b.id
    from ((select j.id, j.priority, j.run_at
             from {{.schema}}._private_jobs as j
            where j.is_available and j.job_queue_id is null
              and (j.priority, j.run_at, j.id) < (_gw_jobs_before.priority, _gw_jobs_before.run_at, last_id)
              and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, null, null)
              and not all_of
              and ((select t.identifier from {{.schema}}._private_tasks as t where t.id = j.task_id) = any (barred)) is not true
              and not exists (select from {{.schema}}._gw_suspects as s where s.job_id = j.id and s.revision = j.revision)
            order by j.priority, j.run_at, j.id
            limit 10)
          union all
          (select h.id, h.priority, h.run_at
             from {{.schema}}._private_job_queues as q
            cross join lateral (
                   select j.id, j.priority, j.run_at, j.revision, j.task_id
                     from {{.schema}}._private_jobs as j
                    where j.is_available and j.job_queue_id = q.id
                      and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, at, null, null)
                    order by j.priority, j.run_at, j.id
                    limit 1) as h
            where q.locked_at is null and not {{.schema}}._gw_queue_moves(q.id, queues) and not all_of
              and ((select t.identifier from {{.schema}}._private_tasks as t where t.id = h.task_id) = any (barred)) is not true
              and not exists (select from {{.schema}}._gw_suspects as s where s.job_id = h.id and s.revision = h.revision)
              and (h.priority, h.run_at, h.id) < (_gw_jobs_before.priority, _gw_jobs_before.run_at, last_id))
          union all
          (select h.id, h.priority, h.run_at
             from open_heads as h
            where h.turn is null and (h.priority, h.run_at, h.id) < (_gw_jobs_before.priority, _gw_jobs_before.run_at, last_id))
          union all
          (select f.id, f.priority, f.run_at
             from (select h.* from open_heads as h where h.turn is not null order by h.priority, h.turn, h.run_at, h.id limit 10) as f
            where case when _gw_jobs_before.turn is not null
                       then (f.priority, f.turn, f.run_at, f.id)
                            < (_gw_jobs_before.priority, _gw_jobs_before.turn, _gw_jobs_before.run_at, _gw_jobs_before.id)
                       else (f.priority, f.run_at) < (_gw_jobs_before.priority, _gw_jobs_before.run_at)
                            and f.id = (select h.id from open_heads as h where h.turn is not null
                                         order by h.priority, h.turn, h.run_at, h.id limit 1)
                  end)) as b
   order by b.priority, b.run_at, b.id
   limit 10;
end;
$$;

comment on function {{.schema}}._gw_jobs_before(smallint, timestamptz, bigint, timestamptz, bigint) is
  'Internal, for why(): returns up to ten of the jobs that nothing holds back and that come before a place in the order of jobs.';
