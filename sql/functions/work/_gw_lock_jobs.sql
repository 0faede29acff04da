-- Locks the jobs for get_job_batch where more is to be done than to take the first ones: named queues, suspects, forbidden
-- flags of single tasks, or a front long to step over. Returns their places; their queues are the worker's already.
-- Priorities are taken one by one, so that future jobs of a more urgent one are not stepped over. What else would have to
-- be, every time, is left behind by the claim cursor.
create or replace function {{.schema}}._gw_lock_jobs(
  worker_id            text,
  task_identifiers     text[],
  batch_size           integer,
  forbidden_flags      text[],
  task_forbidden_flags json,
  due                  timestamptz,
  claimed_at           timestamptz,
  max_bytes            integer
)
  returns tid[]
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
  hint          text        := coalesce(current_setting('gw.claim_cursor', true), '');
  look          text        := hint;
  cursor        bigint[];
  from_cursor   boolean     := false;
  from_priority integer     := -32768;
  from_run_at   timestamptz := timestamptz '-infinity';
  from_id       bigint      := 0;
  queues_only   boolean     := false;
  looked_again  boolean     := false;
  first_queue   integer;
  plain_first   boolean;
  front         record;
  queue_ids     integer[];
  places        tid[];
  most_steps    constant integer := 500; -- from priority to priority; then it looks at each job
  room          integer;
  beyond        smallint; -- the priority behind which it does
  looked_at     timestamptz := claimed_at;
  reads         bigint;
  front_reads   bigint;
begin
  if hint like '{%' then
    look := '';
    cursor := {{.schema}}._gw_claim_cursor(task_identifiers, forbidden_flags, task_forbidden_flags);
    if {{.schema}}._gw_lease(claimed_at) < cursor[2] and due <= {{.schema}}._gw_locked_at(cursor[2]) then
      from_cursor := true;
      from_priority := cursor[4]::integer;
      from_run_at := {{.schema}}._gw_locked_at(cursor[5]);
      from_id := cursor[6];
    end if;
  end if;
  select case when task_identifiers is not null then
           array(select t.id from {{.schema}}._private_tasks as t where t.identifier = any (task_identifiers))
         end,
         exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is not null),
         exists (select from {{.schema}}._gw_suspects as s where s.job_id > 0)
    into task_ids, queued, suspects;
  if suspects and {{.schema}}._gw_runs_alone(worker_id) then
    return null;
  end if;
  if task_forbidden_flags is not null then
    select f.task_ids, f.flagged_tasks, f.task_flags
      into task_ids, flagged_tasks, task_flags
      from {{.schema}}._gw_task_flags(task_forbidden_flags, task_ids) as f;
  end if;

  loop
    plain_first := false;
    beyond := null;
    reads := {{.schema}}._gw_index_reads();
    if queued then
      queue_ids := null;
      first_queue := null;
      if batch_size = 1 and look in ('', 'first queues') and not (suspects or queues_only) then
        first_queue := {{.schema}}._gw_lock_first_queue(
          task_ids, forbidden_flags, flagged_tasks, task_flags, due, from_priority, from_run_at, from_id);
        look := case when first_queue is not null then 'first queues' else 'few queues' end;
        plain_first := first_queue = 0;
        if first_queue > 0 then
          queue_ids := array[first_queue];
        end if;
      end if;
      if first_queue is null then
        front := {{.schema}}._gw_front_queues(
          task_ids, batch_size, forbidden_flags, flagged_tasks, task_flags, due, from_priority, from_run_at, from_id,
          queues_only, suspects, look);
        look := front.look;
        plain_first := front.plain_first;
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
    end if;

    if plain_first then
      places := array(
        select j.ctid
          from {{.schema}}._private_jobs as j
         where j.is_available and j.job_queue_id is null
           and (j.priority, j.run_at, j.id) >= (from_priority, from_run_at, from_id)
           and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
         order by j.priority, j.run_at, j.id
         limit 1
           for update skip locked);
    elsif (cardinality(queue_ids) = batch_size) is not true then
      room := batch_size - coalesce(cardinality(queue_ids), 0);
      with recursive priorities (priority, run_at, id, number) as (
        (select j.priority, j.run_at, j.id, 1
           from {{.schema}}._private_jobs as j
          where j.is_available and j.job_queue_id is null
            and (j.priority, j.run_at, j.id) >= (from_priority, from_run_at, from_id)
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
      )
      select l.places,
             case when cardinality(l.places) < room then (select p.priority from priorities as p where p.number = most_steps) end
        into places, beyond
        from (select array(
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
                               limit room
                                 for update skip locked) as l
                        limit room) as places
              offset 0) as l;
      if beyond is not null then
        places := places || array(
          select j.ctid
            from {{.schema}}._private_jobs as j
           where j.is_available and j.job_queue_id is null and j.priority > beyond
             and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
             and (not suspects
                  or not exists (select from {{.schema}}._gw_suspects as s
                                  where s.job_id = j.id and s.revision = j.revision offset 0))
           order by j.priority, j.run_at, j.id
           limit room - cardinality(places)
             for update skip locked);
      end if;
    end if;

    -- The locks of the queues come in a statement before, so that this one sees what the last holder of each committed. A
    -- head that somebody changes or has just changed (xmin; not all versions look at the ctid again) is left alone, and its
    -- queue with it: the job behind must not overtake, and the head may be due later by now, or belong to another queue. A
    -- suspect is left alone likewise.
    if queue_ids is not null then
      with heads as materialized (
        select head.job_queue_id,
               (select j.ctid
                  from {{.schema}}._private_jobs as j
                 where j.ctid = head.ctid and j.xmin = head.xmin
                   and (not suspects
                        or not exists (select from {{.schema}}._gw_suspects as s
                                        where s.job_id = j.id and s.revision = j.revision offset 0))
                   for update skip locked) as place
          from unnest(queue_ids) as q (id)
         cross join lateral (
                select j.job_queue_id, j.ctid, j.xmin
                  from {{.schema}}._private_jobs as j
                 where j.is_available and j.job_queue_id = q.id
                   and {{.schema}}._gw_suits(j.run_at, j.task_id, j.flags, due, task_ids, forbidden_flags, flagged_tasks, task_flags)
                 order by j.priority, j.run_at, j.id
                 limit 1) as head
      ), fitting as materialized (
        select case when batch_size = 1 then p.places else {{.schema}}._gw_within_bytes(p.places, max_bytes) end as places
          from (select places || array(select h.place from heads as h where h.place is not null) as places) as p
      ), taken as (
        update {{.schema}}._private_job_queues as q
           set locked_by = worker_id, locked_at = claimed_at
         where q.id = any (array(select h.job_queue_id from heads as h
                                  where h.place = any ((select f.places from fitting as f)::tid[])))
      )
      select f.places into places from fitting as f;
    elsif batch_size > 1 then
      places := {{.schema}}._gw_within_bytes(places, max_bytes);
    end if;

    -- Both statements step over the same front, the second one only when it has places left in the batch.
    reads := greatest(front_reads, {{.schema}}._gw_index_reads() - reads);
    if not from_cursor and cursor is not null or reads - 1000 > batch_size then
      perform {{.schema}}._gw_put_claim_cursor(
        task_identifiers, forbidden_flags, task_forbidden_flags, from_priority, from_run_at, from_id,
        case when not from_cursor then looked_at end, places, beyond is not null);
    end if;

    exit when cardinality(places) > 0;
    if from_cursor and {{.schema}}._gw_lease(clock_timestamp()) > cursor[3] then
      looked_at := clock_timestamp();
      from_cursor := false;
      from_priority := -32768;
      from_run_at := '-infinity';
      from_id := 0;
    elsif queued and not queues_only
          and exists (select from {{.schema}}._private_jobs as j where j.is_available and j.job_queue_id is null) then
      -- Others are perhaps just claiming the jobs without a queue, which had their places in the batch. The heads of
      -- queues must not wait for the next call.
      queues_only := true;
    elsif not looked_again and (queued or suspects or hint <> '' or task_forbidden_flags is not null) then
      -- A job that is replaced between look and lock is not taken, and neither is another in its place. In all other
      -- cases get_job_batch has looked before.
      looked_again := true;
      look := 'all queues'; -- the short looks spare few
    else
      exit;
    end if;
  end loop;

  -- Where the next claim of this session is to look first; see _gw_front_queues.
  if queued then
    if look <> hint and hint not like '{%' and coalesce(current_setting('gw.claim_cursor', true), '') = hint then
      perform set_config('gw.claim_cursor', look, false);
    end if;
  elsif hint like '% queues' and current_setting('gw.claim_cursor', true) = hint then
    perform set_config('gw.claim_cursor', '', false);
  end if;
  return places;
end;
$$;

comment on function {{.schema}}._gw_lock_jobs(text, text[], integer, text[], json, timestamptz, timestamptz, integer) is
  'Internal: the places of the jobs for get_job_batch, locked, where named queues, suspects, forbidden flags of single tasks, or a front that is long to step over, are to be thought of.';
