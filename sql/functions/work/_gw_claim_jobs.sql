-- get_job_batch where more is to be done than to take the first jobs: named queues, suspects, forbidden flags of single
-- tasks, or a front long to step over.
-- Priorities are taken one by one, so that future jobs of a more urgent one are not stepped over. What else would have to
-- be, every time, is left behind by the claim cursor.
create or replace function {{.schema}}._gw_claim_jobs(
  worker_id            text,
  task_identifiers     text[],
  batch_size           integer,
  forbidden_flags      text[],
  task_forbidden_flags json,
  due                  timestamptz,
  claimed_at           timestamptz
)
  returns table (
    id              bigint,
    task_identifier text,
    payload         json,
    queue_name      text,
    priority        smallint,
    run_at          timestamptz,
    attempts        smallint,
    max_attempts    smallint,
    key             text,
    flags           jsonb,
    lease           bigint,
    created_at      timestamptz,
    last_error      text,
    revision        integer
  )
  language plpgsql
  set search_path = pg_catalog, pg_temp -- the planner's settings are those of get_job_batch
as $$
#variable_conflict use_column
declare
  task_ids      integer[];
  flagged_tasks integer[];
  task_flags    text[];
  queued        boolean;
  suspects      boolean;
  cursor        bigint[]    := {{.schema}}._gw_claim_cursor(task_identifiers, forbidden_flags, task_forbidden_flags);
  from_cursor   boolean     := coalesce({{.schema}}._gw_lease(claimed_at) < cursor[2], false); -- no cursor: null
  from_priority integer;
  from_run_at   timestamptz;
  from_id       bigint;
  queues_only   boolean     := false;
  looked_again  boolean;
  front         record;
  queue_ids     integer[];
  places        tid[];
  looked_at     timestamptz := claimed_at;
  reads         bigint;
  front_reads   bigint;
  claimed       bigint;
begin
  select case when task_identifiers is not null then
           array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers))
         end,
         exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is not null),
         exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0)
    into task_ids, queued, suspects;
  if task_forbidden_flags is not null then
    select f.task_ids, f.flagged_tasks, f.task_flags
      into task_ids, flagged_tasks, task_flags
      from {{.schema}}._gw_task_flags(task_forbidden_flags, task_ids) as f;
  end if;
  if suspects and {{.schema}}._gw_runs_alone(worker_id) then
    return;
  end if;
  looked_again := coalesce(current_setting('gw.claim_cursor', true), '') = '' and not queued and not suspects
                  and task_forbidden_flags is null; -- get_job_batch did
  if from_cursor then
    from_priority := cursor[4];
    from_run_at := {{.schema}}._gw_locked_at(cursor[5]);
    from_id := cursor[6];
  end if;

  loop
    reads := {{.schema}}._gw_index_reads();
    queue_ids := '{}';
    if queued then
      front := {{.schema}}._gw_front_queues(
        task_ids, batch_size, forbidden_flags, flagged_tasks, task_flags, due, from_priority, from_run_at, from_id,
        queues_only, suspects);
      if front.wanted > 0 then
        queue_ids := array(
          select l.id
            from (select f.id from unnest(front.queue_ids) with ordinality as f (id, place) order by f.place) as f
           cross join lateral (
                  select q.id
                    from {{.schema}}._private_job_queues as q
                   where q.id = f.id and q.locked_at is null
                     for no key update skip locked) as l
           limit front.wanted);
      end if;
    end if;
    front_reads := {{.schema}}._gw_index_reads() - reads;
    reads := reads + front_reads;

    places := '{}';
    if cardinality(queue_ids) < batch_size then
      with recursive priorities (priority, run_at, id) as (
        (select j.priority, j.run_at, j.id
           from {{.schema}}._private_jobs as j
          where j.is_available and j.job_queue_id is null
            and (j.priority, j.run_at, j.id)
                >= (coalesce(from_priority, -32768), coalesce(from_run_at, '-infinity'), coalesce(from_id, 0))
          order by j.priority, j.run_at, j.id
          limit 1)
        union all
        select n.priority, n.run_at, n.id
          from priorities as p
         cross join lateral (
                select j.priority, j.run_at, j.id
                  from {{.schema}}._private_jobs as j
                 where j.is_available and j.job_queue_id is null and j.priority > p.priority
                 order by j.priority, j.run_at, j.id
                 limit 1) as n
      )
      select array(
               select l.ctid
                 from priorities as p
                cross join lateral (
                      select j.ctid
                        from {{.schema}}._private_jobs as j
                       where j.is_available and j.job_queue_id is null
                         and j.priority = p.priority and j.run_at >= p.run_at and (j.run_at, j.id) >= (p.run_at, p.id)
                         and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
                         and (not suspects
                              or not exists (select from {{.schema}}._gw_suspects as s
                                              where s.job_id = j.id and s.revision = j.revision offset 0)) -- 0: not by a hash of all
                       order by j.run_at, j.id
                       limit batch_size - cardinality(queue_ids)
                         for update skip locked) as l
                limit batch_size - cardinality(queue_ids))
        into places;
    end if;

    -- The locks of the queues come in a statement before, so that this one sees what the last holder of each committed. A
    -- head that somebody changes or has just changed (xmin) is left alone, and its queue with it: the job behind must not
    -- overtake, and the head may be due later by now, or belong to another queue. A suspect is left alone likewise.
    return query
    with heads as materialized (
      select l.ctid, l.job_queue_id
        from unnest(queue_ids) as q (id)
       cross join lateral (
              select j.id, j.xmin
                from {{.schema}}._private_jobs as j
               where j.is_available and j.job_queue_id = q.id
                 and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
               order by j.priority, j.run_at, j.id
               limit 1) as head
       cross join lateral (
              select j.ctid, j.job_queue_id
                from {{.schema}}._private_jobs as j
               where j.id = head.id and j.xmin = head.xmin
                 and not exists (select from {{.schema}}._gw_suspects as s where s.job_id = j.id and s.revision = j.revision)
                 for update skip locked) as l
    ), taken as (
      update {{.schema}}._private_job_queues as q
         set locked_by = worker_id, locked_at = claimed_at
       where q.id = any (array(select h.job_queue_id from heads as h))
    ), claimed as (
      update {{.schema}}._private_jobs as j
         set attempts = j.attempts + 1, locked_by = worker_id, locked_at = claimed_at
       where j.ctid = any (places || array(select h.ctid from heads as h))
      returning j.id, j.task_id, j.payload, j.job_queue_id, j.priority, j.run_at, j.attempts, j.max_attempts, j.key,
                j.flags, j.created_at, j.last_error, j.revision
    )
    select c.id,
           (select t.identifier from {{.schema}}._private_tasks as t where t.id = c.task_id), -- null: collected by hand
           c.payload,
           case when c.job_queue_id is not null then
             (select q.queue_name from {{.schema}}._private_job_queues as q where q.id = c.job_queue_id)
           end,
           c.priority, c.run_at, c.attempts, c.max_attempts, c.key, c.flags,
           (select {{.schema}}._gw_lease(claimed_at)), c.created_at, c.last_error, c.revision
      from claimed as c
     order by c.priority, c.run_at, c.id;
    get diagnostics claimed = row_count;

    -- Both statements step over the same front, the second one only when it has places left in the batch.
    reads := greatest(front_reads, {{.schema}}._gw_index_reads() - reads);
    if not from_cursor and cursor is not null or reads - 1000 > batch_size then
      perform {{.schema}}._gw_put_claim_cursor(
        task_identifiers, forbidden_flags, task_forbidden_flags, from_priority, from_run_at, from_id,
        case when not from_cursor then looked_at end);
    end if;

    exit when claimed > 0;
    if from_cursor and {{.schema}}._gw_lease(clock_timestamp()) > cursor[3] then
      looked_at := clock_timestamp();
      from_cursor := false;
      from_priority := null;
      from_run_at := null;
      from_id := null;
    elsif queued and not queues_only
          and exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is null) then
      -- Others are perhaps just claiming the jobs without a queue, which had their places in the batch. The heads of
      -- queues must not wait for the next call.
      queues_only := true;
    elsif not looked_again then
      -- A job that is replaced between look and lock is not taken, and neither is another in its place.
      looked_again := true;
    else
      exit;
    end if;
  end loop;

  -- Whether the next claim of this session is to come here at once.
  if queued and coalesce(current_setting('gw.claim_cursor', true), '') = '' then
    perform set_config('gw.claim_cursor', 'queues', false);
  elsif not queued and current_setting('gw.claim_cursor', true) = 'queues' then
    perform set_config('gw.claim_cursor', '', false);
  end if;
end;
$$;

comment on function {{.schema}}._gw_claim_jobs(text, text[], integer, text[], json, timestamptz, timestamptz) is
  'Internal: get_job_batch where named queues, suspects, forbidden flags of single tasks, or a front that is long to step over, are to be thought of.';
