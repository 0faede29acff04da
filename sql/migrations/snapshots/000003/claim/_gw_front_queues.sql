-- Returns the named queues whose head jobs belong in the next batch, in the order of those heads, and how many of them
-- to take. The list has spare queues, because other claims may lock some of them. The function only reads.
-- Jobs with and without a queue share one order. So the function finds the batch's jobs without a queue first, then the
-- queued jobs before the last of these. Usually these are few; if busy queues with long backlogs are there, the
-- function steps from queue to queue instead.
-- A scalar subquery checks whether a queue is locked, because a join could read all queues.
-- A queue whose head is a suspect is excluded: the next job must not overtake the head.
-- queue_batch: if no job without a queue is due (fills), so many jobs of a queue count for the batch, so a search that has found
-- enough jobs of few queues suffices. Otherwise the batch has the heads, as all of them may come before those jobs.
-- plain_first: the batch is a single job, and it is the first job without a queue.
-- from_...: the position of the first job without a queue (see get_job_batch). queues_only: ignores jobs without a
-- queue. suspects: whether there are suspects. hint, look: the kind of search that sufficed last time and this time.
create or replace function {{.schema}}._gw_front_queues(
  claim           {{.schema}}._gw_claim,
  from_place      {{.schema}}._gw_place,
  queues_only     boolean,
  hint            text,
  out queue_ids   integer[],
  out wanted      integer,
  out look        text,
  out plain_first boolean,
  out fills       boolean
)
  language plpgsql
  set search_path = pg_catalog, pg_temp -- get_job_batch sets the planner options
as $$
declare
  plain_priority smallint; -- the first job without a queue
  plain_run_at   timestamptz;
  plain_id       bigint;
  plain_suits    boolean;
  comes_first    boolean; -- it suits, and no entry before it is skipped
  tells          boolean;
  is_known       boolean;
  most_steps     constant integer := 500; -- from priority to priority; after these the search reads each job
begin
  -- Most of the cost of claiming queued jobs is preparing the statements. Usually a short search suffices. 'first
  -- queues' reads the first queued jobs; it suffices if no job without a queue is claim.due, or if enough queued jobs come
  -- before the first one. 'few queues' reads each queue; it suffices if there are few queues and either no job without
  -- a queue is claim.due or a single job is wanted. hint is the search that sufficed for the last claim of this session.
  if hint <> 'all queues' then
    if not queues_only then
      select j.priority, j.run_at, j.id,
             {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
        into plain_priority, plain_run_at, plain_id, plain_suits
        from {{.schema}}._private_jobs as j
       where j.is_available and j.job_queue_id is null
         and (j.priority, j.run_at, j.id) >= (from_place.priority, from_place.run_at, from_place.id)
       order by j.priority, j.run_at, j.id
       limit 1;
    end if;
    comes_first := plain_suits;
    if plain_run_at > claim.due then -- then read the first job of each less urgent priority
      with recursive priorities (priority, run_at, id, suits, number) as (
        select plain_priority, plain_run_at, plain_id, plain_suits, 1
        union all
        select n.priority, n.run_at, n.id, n.suits, p.number + 1
          from priorities as p
         cross join lateral (
                select j.priority, j.run_at, j.id,
                       {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags) as suits
                  from {{.schema}}._private_jobs as j
                 where j.is_available and j.job_queue_id is null and j.priority > p.priority
                 order by j.priority, j.run_at, j.id
                 limit 1) as n
         where p.number < most_steps
      )
      select p.priority, p.run_at, p.id, p.suits
        into plain_priority, plain_run_at, plain_id, plain_suits
        from priorities as p
       where p.run_at <= claim.due or p.number = most_steps -- jobs after most_steps priorities are unknown
       limit 1;
    end if;
    tells := plain_id is null or claim.batch_size = 1 and plain_suits;
    fills := plain_id is null;

    if (plain_id is null or claim.batch_size > 1) and hint <> 'few queues' then
      with walked as materialized (
        select j.job_queue_id, j.priority, j.run_at, j.id,
               {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags) as suits
          from {{.schema}}._private_jobs as j
         where j.is_available and j.job_queue_id > 0
           and (j.priority, j.run_at, j.id)
               < (coalesce(plain_priority, 32767), coalesce(plain_run_at, 'infinity'), coalesce(plain_id, 9223372036854775807))
         order by j.priority, j.run_at, j.id
         limit claim.batch_size + 15
      ), free as materialized (
        select w.job_queue_id, w.priority, w.run_at, w.id
          from walked as w
         where w.suits
           and (select c.locked_at is null from {{.schema}}._private_job_queues as c where c.id = w.job_queue_id)
         limit claim.batch_size + 3 -- stop when there are enough, with some to spare
      )
      select array_agg(m.job_queue_id order by m.priority, m.run_at, m.id) filter (where m.number = 1),
             least(count(*) filter (where m.number = 1), claim.batch_size),
             count(*) >= claim.batch_size
             or plain_id is null
                and not exists (select from walked offset claim.batch_size + 14) and not exists (select from free offset claim.batch_size + 2)
        into queue_ids, wanted, is_known
        from (select f.*, row_number() over (partition by f.job_queue_id order by f.priority, f.run_at, f.id) as number
                from free as f) as m
       where m.number <= case when fills then claim.queue_batch else 1 end;
      if is_known then
        look := 'first queues';
        return;
      end if;
    end if;

    with recursive queues (id, number) as (
      (select j.job_queue_id, 1
         from {{.schema}}._private_jobs as j
        where j.is_available and j.job_queue_id > 0
        order by j.job_queue_id
        limit 1)
      union all
      select n.job_queue_id, q.number + 1
        from queues as q
       cross join lateral (
              select j.job_queue_id
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id > q.id
               order by j.job_queue_id
               limit 1) as n
       where q.number < 17
    )
    select array_agg(h.job_queue_id order by h.priority, h.run_at, h.id), least(count(h.id), claim.batch_size),
           not exists (select from queues as q where q.number = 17) and (tells or count(h.id) = 0)
      into queue_ids, wanted, is_known
      from queues as q
     cross join lateral (
            select j.job_queue_id, j.priority, j.run_at, j.id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = q.id
               and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
             order by j.priority, j.run_at, j.id
             limit 1) as h
     where q.number < 17
       and (select w.locked_at is null from {{.schema}}._private_job_queues as w where w.id = q.id)
       and (not tells or plain_id is null or (h.priority, h.run_at, h.id) < (plain_priority, plain_run_at, plain_id));
    if is_known then
      look := 'few queues';
      plain_first := comes_first and claim.batch_size = 1 and wanted = 0;
      return;
    end if;
  end if;

  with recursive priorities (priority, run_at, id, number) as (
    (select j.priority, j.run_at, j.id, 1
       from {{.schema}}._private_jobs as j
      where j.is_available and j.job_queue_id is null and not queues_only
        and (j.priority, j.run_at, j.id) >= (from_place.priority, from_place.run_at, from_place.id)
      order by j.priority, j.run_at, j.id
      limit 1)
    union all
    select n.priority, n.run_at, n.id, p.number + 1
      from priorities as p
     cross join lateral (
            select j.priority, j.run_at, j.id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id is null and j.priority > p.priority
             order by j.priority, j.run_at, j.id
             limit 1) as n
     where p.number < most_steps
  ), plain as materialized (
    (select n.priority, n.run_at, n.id
       from priorities as p
      cross join lateral (
             select j.priority, j.run_at, j.id
               from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id is null
                and j.priority = p.priority and j.run_at >= p.run_at and (j.run_at, j.id) >= (p.run_at, p.id)
                and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
              order by j.run_at, j.id
              limit claim.batch_size) as n
      limit claim.batch_size)
    union all
    (select j.priority, j.run_at, j.id
       from {{.schema}}._private_jobs as j
      where j.is_available and j.job_queue_id is null
        and j.priority > (select p.priority from priorities as p where p.number = most_steps)
        and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
      order by j.priority, j.run_at, j.id
      limit claim.batch_size)
     limit claim.batch_size
  ), last_plain as materialized (
    select p.priority, p.run_at, p.id from plain as p order by p.priority, p.run_at, p.id offset claim.batch_size - 1
  -- Only queues of these tasks are read, so the number of queues of other tasks does not matter. The row comparison can
  -- use only _gw_queued_tasks, whatever the statistics are.
  ), queued_priorities (priority, number) as (
    select min((select case when n.task_id = t.id then n.priority end
                  from (select j.task_id, j.priority
                          from {{.schema}}._private_jobs as j
                         where j.is_available and j.job_queue_id > 0 and (j.task_id, j.priority) >= (t.id, -32768)
                         order by j.task_id, j.priority
                         limit 1) as n)), 1
      from unnest(claim.task_ids) as t (id)
    union all
    select (select min((select case when n.task_id = t.id then n.priority end
                          from (select j.task_id, j.priority
                                  from {{.schema}}._private_jobs as j
                                 where j.is_available and j.job_queue_id > 0
                                   and (j.task_id, j.priority) > (t.id, p.priority)
                                 order by j.task_id, j.priority
                                 limit 1) as n))
              from unnest(claim.task_ids) as t (id)), p.number + 1
      from queued_priorities as p
     where p.priority is not null and p.number < most_steps
  ), walked as materialized (
    select w.job_queue_id, w.priority, w.run_at, w.id,
           {{.schema}}._gw_suits(w.run_at, w.task_id, w.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags) as suits
      from ((select j.job_queue_id, j.priority, j.run_at, j.id, j.task_id, j.flags
               from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id > 0 and claim.task_ids is null
              order by j.priority, j.run_at, j.id
              limit claim.batch_size + 50)
            union all
            (select n.job_queue_id, n.priority, n.run_at, n.id, n.task_id, n.flags
               from queued_priorities as p
              cross join lateral (
                    select s.job_queue_id, s.priority, s.run_at, s.id, s.task_id, s.flags
                      from unnest(claim.task_ids) as t (id)
                     cross join lateral (
                           select j.job_queue_id, j.priority, j.run_at, j.id, j.task_id, j.flags
                             from {{.schema}}._private_jobs as j
                            where j.is_available and j.job_queue_id > 0
                              and (j.task_id, j.priority, j.run_at, j.id) >= (t.id, p.priority, timestamptz '-infinity', 0)
                              and (j.task_id, j.priority, j.run_at, j.id) <= (t.id, p.priority, claim.due, 9223372036854775807)
                            order by j.task_id, j.priority, j.run_at, j.id
                            limit claim.batch_size + 50) as s
                     order by s.run_at, s.id
                     limit claim.batch_size + 50) as n
              limit claim.batch_size + 50)
            union all
            (select j.job_queue_id, j.priority, j.run_at, j.id, j.task_id, j.flags
               from {{.schema}}._private_jobs as j
              where j.is_available and j.job_queue_id > 0
                and j.priority > (select p.priority from queued_priorities as p where p.number = most_steps)
                and j.task_id = any (claim.task_ids) and j.run_at <= claim.due
              order by j.priority, j.run_at, j.id
              limit claim.batch_size + 50)) as w
     where (w.priority, w.run_at, w.id) < (coalesce((select l.priority from last_plain as l), 32767),
                                           coalesce((select l.run_at from last_plain as l), 'infinity'),
                                           coalesce((select l.id from last_plain as l), 9223372036854775807))
  ), free as materialized (
    select w.job_queue_id, w.priority, w.run_at, w.id
      from walked as w
     where w.suits
       and (select q.locked_at is null from {{.schema}}._private_job_queues as q where q.id = w.job_queue_id)
     limit 2 * claim.batch_size + 16 -- stop when there are enough
  ), met as materialized (
    select f.*, row_number() over (partition by f.job_queue_id order by f.priority, f.run_at, f.id) as number
      from free as f
  ), walk (complete) as materialized (
    select (select count(*) from met as m
             where m.number <= case when exists (select from priorities as p where p.run_at <= claim.due) then 1 else claim.queue_batch end) >= claim.batch_size
           or ((select count(*) from free) < 2 * claim.batch_size + 16 and (select count(*) from walked) < claim.batch_size + 50)
  ), queues (id) as (
    (select j.job_queue_id
       from {{.schema}}._private_jobs as j
      where j.is_available and j.job_queue_id > 0 and not (select w.complete from walk as w)
      order by j.job_queue_id
      limit 1)
    union all
    select (select j.job_queue_id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id > q.id
             order by j.job_queue_id
             limit 1)
      from queues as q
     where q.id is not null
  ), heads as (
    select m.job_queue_id, m.priority, m.run_at, m.id from met as m where m.number = 1 and (select w.complete from walk as w)
    union all
    select h.job_queue_id, h.priority, h.run_at, h.id
      from queues as c
     cross join lateral (
            select j.job_queue_id, j.priority, j.run_at, j.id
              from {{.schema}}._private_jobs as j
             where j.is_available and j.job_queue_id = c.id
               and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, claim.due, claim.task_ids, claim.forbidden_flags, claim.flagged_tasks, claim.task_flags)
             order by j.priority, j.run_at, j.id
             limit 1) as h
     where (select q.locked_at is null from {{.schema}}._private_job_queues as q where q.id = c.id)
  ), ranked as (
    select c.job_queue_id, row_number() over (order by c.priority, c.run_at, c.id) as rank
      from (select h.job_queue_id, h.priority, h.run_at, h.id from heads as h
            union all
            select null, p.priority, p.run_at, p.id from plain as p) as c
  )
  select array_agg(r.job_queue_id order by r.rank), count(*) filter (where r.rank <= claim.batch_size),
         case when claim.batch_size > 1 and count(*) filter (where r.rank <= claim.batch_size) < claim.batch_size
                   and exists (select from priorities as p where p.run_at <= claim.due) then 'all queues'
              when not exists (select from (select j.task_id
                                              from {{.schema}}._private_jobs as j
                                             where j.is_available and j.job_queue_id > 0
                                             order by j.priority, j.run_at, j.id
                                             limit 16) as f
                                where (f.task_id = any (claim.task_ids)) is not false) then 'all queues' -- the others do not suffice
              else 'first queues' end,
         not exists (select from priorities as p where p.run_at <= claim.due)
    into queue_ids, wanted, look, fills
    from ranked as r
   where r.job_queue_id is not null and r.rank <= claim.batch_size + 64;
end;
$$;

comment on function {{.schema}}._gw_front_queues({{.schema}}._gw_claim, {{.schema}}._gw_place, boolean, text) is
  'Internal: returns the named queues whose head jobs belong in the next batch, and how many of them to take.';
